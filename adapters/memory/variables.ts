import { compareKeys } from "../../domain/backups/object_key.ts";
import type { Environment } from "../../domain/deployments/deployment.ts";
import { notFound } from "../../domain/failure.ts";
import type { Secret } from "../../domain/secret.ts";
import { checkVariableTotals, valueBytes, type Variable } from "../../domain/projects/variable.ts";
import type { Variables, VariablesChange } from "../../ports/projects/variables.ts";
import type { MemoryTables, VariableRow } from "./memory_tables.ts";

/** Keeps environment variables in memory. */
export class MemoryVariables implements Variables {
  readonly #tables: MemoryTables;

  constructor(tables: MemoryTables) {
    this.#tables = tables;
  }

  async list(projectId: string, environment?: Environment): Promise<readonly Variable[]> {
    return this.#sorted(projectId, environment).map(([key, { value, secret, updatedAt }]) => ({
      key,
      value: secret ? null : value.reveal(),
      secret,
      updatedAt: new Date(updatedAt),
    }));
  }

  async change(projectId: string, { environment = "production", ...change }: VariablesChange): Promise<void> {
    if (!this.#tables.projects.has(projectId)) throw notFound("project");
    const rows = new Map(this.#tables.variables[environment].get(projectId));
    for (const key of change.deletes) rows.delete(key);
    for (const { key, value, secret } of change.upserts) {
      rows.set(key, { value, secret: secret ?? rows.get(key)?.secret ?? false, updatedAt: new Date(change.at) });
    }
    const bytes = rows.values().reduce((sum, row) => sum + valueBytes(row), 0);
    if (change.upserts.length > 0) checkVariableTotals({ count: rows.size, bytes });
    this.#tables.variables[environment].set(projectId, rows);
  }

  async reveal(projectId: string, environment?: Environment): Promise<ReadonlyMap<string, Secret>> {
    return new Map(this.#sorted(projectId, environment).map(([key, { value }]) => [key, value]));
  }

  #sorted(projectId: string, environment: Environment = "production"): [string, VariableRow][] {
    return [...(this.#tables.variables[environment].get(projectId) ?? [])].sort(([a], [b]) => compareKeys(a, b));
  }
}
