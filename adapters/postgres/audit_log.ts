import type { Listing, Page } from "../../domain/page.ts";
import type { AuditEntry, AuditFilter, AuditLog, AuditOutcome } from "../../ports/identity/audit_log.ts";
import type { ActingFor } from "../../domain/identity/permission.ts";
import type { Database } from "./database.ts";
import { jsonValue } from "./json_value.ts";
import { ReadMemory } from "./read_memory.ts";
import { readKnownPage } from "./read_page.ts";

interface AuditRow {
  readonly id: string;
  readonly organization_id: string;
  readonly user_id: string;
  readonly credential_kind: AuditEntry["credential"]["kind"];
  readonly credential_id: string;
  readonly acting_for: ActingFor | null;
  readonly action: string;
  readonly target: string | null;
  readonly changed: readonly string[];
  readonly at: Date;
  readonly caller_address: string;
  readonly request_id: string;
  readonly outcome: AuditOutcome;
}

/** Rows that one DELETE removes at most, so that it stays within the statement timeout. */
const BATCH = 5_000;

/** Keeps the audit log in PostgreSQL. */
export class PostgresAuditLog implements AuditLog {
  readonly #database: Database;
  readonly #pages = new ReadMemory<readonly AuditEntry[]>();

  constructor(database: Database) {
    this.#database = database;
  }

  async record(entry: AuditEntry): Promise<void> {
    const { id, organizationId, userId, credential, actingFor, action, target, changed, at } = entry;
    await this.#database.run(
      (sql) => sql`
        insert into audit_log (id, organization_id, user_id, credential_kind, credential_id, acting_for, action,
          target, changed, at, caller_address, request_id, outcome)
        values (${id}, ${organizationId}, ${userId}, ${credential.kind}, ${credential.id},
          ${jsonValue(sql, actingFor)}, ${action}, ${target}, ${[...changed]}::text[], ${at}, ${entry.from},
          ${entry.requestId}, ${entry.outcome})`,
    );
  }

  async finish(id: string, { outcome, target }: Pick<AuditEntry, "outcome" | "target">): Promise<void> {
    await this.#database.run(
      (sql) => sql`update audit_log set outcome = ${outcome}, target = coalesce(${target}, target) where id = ${id}`,
    );
  }

  async list(organizationId: string, filter: AuditFilter, page: Page): Promise<Listing<AuditEntry>> {
    const { userId, action, target } = filter;
    const isWhole = userId === undefined && action === undefined && target === undefined;
    return readKnownPage(
      this.#database,
      { key: JSON.stringify([organizationId, userId, action, target]), page, memory: this.#pages },
      (sql) => ({
        version: sql`id || ' ' || xmin`,
        ...(isWhole && {
          total: sql`(select coalesce(sum(count), 0)::bigint from audit_counts where organization_id = ${organizationId})`,
        }),
        columns: sql`id, organization_id, user_id, credential_kind, credential_id, acting_for, action, target,
          to_jsonb(changed) as changed, at, caller_address, request_id, outcome`,
        from: sql`audit_log where organization_id = ${organizationId}
          ${userId === undefined ? sql`` : sql`and user_id = ${userId}`}
          ${action === undefined ? sql`` : sql`and action = ${action}`}
          ${target === undefined ? sql`` : sql`and target = ${target}`}`,
        order: sql`at desc, id desc`,
      }),
      toEntry,
    );
  }

  async sweep(before: Date): Promise<number> {
    const { count } = await this.#database.run(
      (sql) => sql`
        delete from audit_log where id in (select id from audit_log where at < ${before} order by at limit ${BATCH})`,
    );
    return count;
  }
}

function toEntry(row: AuditRow): AuditEntry {
  return {
    id: row.id,
    organizationId: row.organization_id,
    userId: row.user_id,
    credential: { kind: row.credential_kind, id: row.credential_id },
    actingFor: row.acting_for,
    action: row.action,
    target: row.target,
    changed: row.changed,
    at: row.at,
    from: row.caller_address,
    requestId: row.request_id,
    outcome: row.outcome,
  };
}
