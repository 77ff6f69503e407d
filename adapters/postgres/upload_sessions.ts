import type { Listing, Page } from "../../domain/page.ts";
import { UPLOAD_MS, type UploadQuota, type UploadSession, type UploadState } from "../../domain/projects/upload.ts";
import type { ReceivedUpload } from "../../ports/projects/upload_files.ts";
import type {
  FoundUploadSession,
  NewUploadSession,
  UploadCreation,
  UploadSessions,
} from "../../ports/projects/upload_sessions.ts";
import type { Database, Sql } from "./database.ts";
import { milliseconds } from "./milliseconds.ts";
import { readPage } from "./read_page.ts";

interface UploadRow {
  readonly id: string;
  readonly organization_id: string;
  readonly user_id: string;
  readonly name: string | null;
  readonly mode: UploadSession["mode"];
  readonly state: UploadState;
  readonly bytes: number | null;
  readonly sha256: string | null;
  readonly files: number | null;
  readonly created_at: Date;
  readonly expires_at: Date;
}

/** How many uploads of an organization are waiting, and which were evicted. */
interface UploadQuotaUse {
  readonly ours: number;
  readonly displaced: readonly string[];
}

/** Stores upload sessions in PostgreSQL. */
export class PostgresUploadSessions implements UploadSessions {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async create(
    session: NewUploadSession,
    { lifetimeMs, quota }: { readonly lifetimeMs: number; readonly quota: UploadQuota },
  ): Promise<UploadCreation> {
    const { id, organizationId, userId, name, mode, state, bytes, sha256, files } = session;
    const rows = await this.#database.run(
      (sql) => sql<(UploadRow & UploadQuotaUse)[]>`
        with room as materialized (
          select * from slipway_make_room_for_upload(
            ${organizationId}, ${userId}, ${quota.perUser}, ${quota.perOrganization})
        ), created as (
          insert into upload_sessions
            (id, organization_id, user_id, name, mode, state, bytes, sha256, files, created_at, expires_at)
          select ${id}, ${organizationId}, ${userId}, ${name}, ${mode}, ${state}, ${bytes}::bigint, ${sha256},
            ${files}::bigint, now(), now() + ${milliseconds(sql, lifetimeMs)}
          from room where mine < ${quota.perUser} and ours < ${quota.perOrganization}
          returning ${columns(sql)}
        )
        select ours, to_jsonb(displaced) as displaced, created.* from room left join created on true`,
    );
    const row = rows[0]!;
    if (row.id === null) return { outcome: row.ours >= quota.perOrganization ? "organization_full" : "user_full" };
    return { outcome: "created", session: toUploadSession(row), displaced: row.displaced };
  }

  async list(organizationId: string, userId: string, page: Page): Promise<Listing<UploadSession>> {
    return readPage(
      this.#database,
      page,
      (sql) => ({
        columns: columns(sql),
        from: sql`upload_sessions where organization_id = ${organizationId} and user_id = ${userId}
          and state <> 'used' and expires_at > now()`,
        order: sql`created_at desc, id desc`,
      }),
      toUploadSession,
    );
  }

  async find(organizationId: string, id: string): Promise<FoundUploadSession | undefined> {
    const [row] = await this.#database.run(
      (sql) => sql<(UploadRow & { readonly expired: boolean })[]>`
        select ${columns(sql)}, expires_at <= now() as expired
        from upload_sessions where id = ${id} and organization_id = ${organizationId}`,
    );
    return row && { ...toUploadSession(row), expired: row.expired };
  }

  async remove(organizationId: string, userId: string, id: string): Promise<boolean> {
    const { count } = await this.#database.run(
      (sql) => sql`
        delete from upload_sessions
        where id = ${id} and organization_id = ${organizationId} and user_id = ${userId} and state <> 'used'`,
    );
    return count > 0;
  }

  async begin(id: string, leaseMs: number): Promise<string | undefined> {
    const lease = crypto.randomUUID();
    const { count } = await this.#database.run(
      (sql) => sql`
        update upload_sessions
        set state = 'receiving', bytes = null, sha256 = null, files = null, lease_id = ${lease},
          lease_until = now() + ${milliseconds(sql, leaseMs)}
        where id = ${id} and expires_at > now() and (state in ('open', 'ready')
          or (state = 'receiving' and (lease_until is null or lease_until <= now())))`,
    );
    return count > 0 ? lease : undefined;
  }

  async renew(id: string, lease: string, leaseMs: number): Promise<boolean> {
    const { count } = await this.#database.run(
      (sql) => sql`
        update upload_sessions set lease_until = now() + ${milliseconds(sql, leaseMs)}
        where id = ${id} and state = 'receiving' and lease_id = ${lease}`,
    );
    return count > 0;
  }

  async complete(id: string, lease: string, { bytes, sha256, files }: ReceivedUpload): Promise<boolean> {
    const { count } = await this.#database.run(
      (sql) => sql`
        update upload_sessions
        set state = 'ready', bytes = ${bytes}, sha256 = ${sha256}, files = ${files}, lease_id = null,
          lease_until = null, expires_at = now() + ${milliseconds(sql, UPLOAD_MS)}
        where id = ${id} and state = 'receiving' and lease_id = ${lease}`,
    );
    return count > 0;
  }

  async giveUp(id: string, lease: string): Promise<void> {
    await this.#database.run(
      (sql) => sql`
        update upload_sessions set state = 'open', lease_id = null, lease_until = null
        where id = ${id} and state = 'receiving' and lease_id = ${lease}`,
    );
  }

  async sweep(stored: readonly string[]): Promise<readonly string[]> {
    const rows = await this.#database.run(
      (sql) => sql<{ id: string }[]>`
        with expired as (
          delete from upload_sessions
          where expires_at < now() and state <> 'used'
            and (state <> 'receiving' or lease_until is null or lease_until < now())
          returning id
        )
        select id from expired
        union
        select id from unnest(${stored}::text[]) as kept (id)
        where not exists (
          select 1 from upload_sessions
          where upload_sessions.id = kept.id and (state <> 'used' or exists (
            select 1 from deployments
            where deployments.status in ('queued', 'building') and record -> 'source' ->> 'uploadId' = kept.id
          ))
        )`,
    );
    return rows.map(({ id }) => id);
  }
}

function columns(sql: Sql) {
  return sql`id, organization_id, user_id, name, mode, state, bytes, sha256, files, created_at, expires_at`;
}

function toUploadSession(row: UploadRow): UploadSession {
  const { id, name, mode, state, bytes, sha256, files } = row;
  const [organizationId, userId] = [row.organization_id, row.user_id];
  const [createdAt, expiresAt] = [row.created_at, row.expires_at];
  return { id, organizationId, userId, name, mode, state, bytes, sha256, files, createdAt, expiresAt };
}
