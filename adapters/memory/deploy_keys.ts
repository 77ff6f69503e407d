import { notFound } from "../../domain/failure.ts";
import type { DeployKey, PinnedHostKey, StoredDeployKey } from "../../domain/projects/deploy_key.ts";
import type { Secret } from "../../domain/secret.ts";
import type { DeployKeys } from "../../ports/projects/deploy_keys.ts";
import { copied } from "./copied.ts";
import type { MemoryTables } from "./memory_tables.ts";

/** Keeps deploy keys and pinned host keys in memory. */
export class MemoryDeployKeys implements DeployKeys {
  readonly #tables: MemoryTables;

  constructor(tables: MemoryTables) {
    this.#tables = tables;
  }

  async find(projectId: string): Promise<StoredDeployKey | undefined> {
    const row = this.#tables.deployKeys.get(projectId);
    if (!row) return undefined;
    const hostKeys = [...row.hostKeys.values()].sort((a, b) => (a.host < b.host ? -1 : 1));
    return copied({ ...row.key, hostKeys });
  }

  async privateKey(projectId: string): Promise<Secret | undefined> {
    return this.#tables.deployKeys.get(projectId)?.privateKey;
  }

  async put(key: DeployKey, privateKey: Secret, { replace = false } = {}): Promise<boolean> {
    const { deployKeys, projects } = this.#tables;
    if (!projects.has(key.projectId)) throw notFound("project");
    const former = deployKeys.get(key.projectId);
    if (former && !replace) return false;
    deployKeys.set(key.projectId, { key: copied(key), privateKey, hostKeys: former?.hostKeys ?? new Map() });
    return true;
  }

  async remove(projectId: string): Promise<boolean> {
    return this.#tables.deployKeys.delete(projectId);
  }

  async pinHostKey(projectId: string, hostKey: PinnedHostKey): Promise<PinnedHostKey | undefined> {
    const hostKeys = this.#tables.deployKeys.get(projectId)?.hostKeys;
    if (hostKeys && !hostKeys.has(hostKey.host)) hostKeys.set(hostKey.host, copied(hostKey));
    return copied(hostKeys?.get(hostKey.host));
  }

  async forgetHostKey(projectId: string, host: string): Promise<boolean> {
    return this.#tables.deployKeys.get(projectId)?.hostKeys.delete(host) ?? false;
  }
}
