import { type LeftOut, leftOutLine, leftOutTogether, OutputTail } from "../../domain/deployments/output_tail.ts";
import { notFound } from "../../domain/failure.ts";
import type { OutputLine, OutputQuery } from "../../ports/services/runtime.ts";
import type { InstanceOutput, LogOwner, LogState, RuntimeLogs } from "../../ports/services/runtime_logs.ts";
import type { Database } from "./database.ts";
import { jsonValue } from "./json_value.ts";
import { type LogChunk, linesOf, logChunks } from "./runtime_log_chunks.ts";

const PAGE_ROWS = 200;
const PAGE_BYTES = 1_048_576;
const PAGE_CHARACTERS = 8 * 1_024 * 1_024;

type StoredLeftOut = (Omit<LeftOut, "at"> & { readonly at: string }) | null;

interface LeftOutColumns {
  readonly left_out: StoredLeftOut;
  readonly own_left_out: StoredLeftOut;
}

/** The current state of a log, joined with one of its chunks. A deployment without a log has `null` in both. */
interface StandingRow extends LeftOutColumns {
  readonly revision: number | null;
  readonly last_seq: number | null;
  readonly ends_with: string | null;
  readonly after_seq: number | null;
  readonly chunk_seq: number | null;
  readonly last_at: Date;
  readonly line_count: number;
  readonly bytes: number;
}

/** The new state of a log. */
interface Changed {
  readonly instanceId: string;
  readonly after: number;
  readonly leftOut: LeftOut | null;
  readonly ownLeftOut: LeftOut | null;
  /** Chunks from this number up to `after` are kept. */
  readonly keptFrom: number;
  readonly chunks: readonly LogChunk[];
}

/** Stores runtime logs (the output of services) in PostgreSQL. */
export class PostgresRuntimeLogs implements RuntimeLogs {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async append(owner: LogOwner, output: InstanceOutput, { maxBytes }: { readonly maxBytes: number }): Promise<void> {
    // Optimistic concurrency: holds no lock, and recomputes a change that was computed from an outdated revision.
    for (;;) {
      const rows = await this.#standing(owner);
      const [log] = rows;
      if (!log) throw notFound("deployment");
      if (await this.#write(owner, await changed(rows, output, maxBytes), log.revision ?? 0)) return;
    }
  }

  async seal({ deploymentId, service }: LogOwner, instanceId: string): Promise<void> {
    await this.#database.run(
      (sql) => sql`
        update runtime_logs set ends_with = null, revision = revision + 1
        where deployment_id = ${deploymentId} and service = ${service} and ends_with = ${instanceId}`,
    );
  }

  async states(owners: readonly LogOwner[]): Promise<readonly LogState[]> {
    if (owners.length === 0) return [];
    const rows = await this.#database.run(
      (sql) => sql<{ deployment_id: string; service: string; last_seq: number; ends_with: string | null }[]>`
        select deployment_id, service, last_seq, ends_with from runtime_logs
        where (deployment_id, service) in (
          select * from unnest(${owners.map(({ deploymentId }) => deploymentId)}::text[],
            ${owners.map(({ service }) => service)}::text[])
        )`,
    );
    return rows.map(({ deployment_id: deploymentId, service, last_seq: last, ends_with: endsWith }) => ({
      deploymentId,
      service,
      last,
      endsWith,
    }));
  }

  async read(owner: LogOwner, { since, limit, from = new Date(0) }: OutputQuery): Promise<readonly OutputLine[]> {
    const lines: OutputLine[] = [];
    const isWanted = ({ seq, at }: OutputLine) => seq > since && at >= from;
    let characters = 0;
    for (let at = Math.max(since, 0), isFirst = true; ; isFirst = false) {
      const rows = await this.#rows(owner, { since: at, from });
      const leftOut = isFirst && rows[0] ? allLeftOut(rows[0]) : null;
      if (leftOut) lines.push(...[leftOutLine(leftOut)].filter(isWanted));
      for (const { lines: text } of rows) {
        if (text === null) continue;
        for (const line of linesOf(text)) if (isWanted(line)) lines.push(line);
        characters += text.length;
      }
      const last = rows.at(-1);
      const isAll = !last || last.found === null || (rows.length === last.found && last.found < PAGE_ROWS);
      if (isAll || lines.length >= limit || characters >= PAGE_CHARACTERS) return lines.slice(0, limit);
      at = last.seq!;
    }
  }

  async crowded(deployments: number): Promise<readonly string[]> {
    const rows = await this.#database.run(
      (sql) => sql<{ project_id: string }[]>`
        select project_id from deployments
        where exists (select 1 from runtime_logs where deployment_id = deployments.id)
        group by project_id having count(*) > ${deployments}`,
    );
    return rows.map(({ project_id: projectId }) => projectId);
  }

  async remove(deploymentIds: readonly string[]): Promise<void> {
    await this.#database.run(
      (sql) => sql`delete from runtime_logs where deployment_id = any (${deploymentIds}::text[])`,
    );
  }

  /** Reads the state of a log, one row per chunk. Returns no rows when the deployment does not exist. */
  async #standing({ deploymentId, service }: LogOwner): Promise<readonly StandingRow[]> {
    return this.#database.run(
      (sql) => sql<StandingRow[]>`
        select log.revision, log.last_seq, log.ends_with, log.after_seq, log.left_out, log.own_left_out,
          chunk.seq as chunk_seq, chunk.last_at, chunk.line_count, chunk.bytes
        from deployments
        left join runtime_logs as log on log.deployment_id = deployments.id and log.service = ${service}
        left join runtime_log_chunks as chunk
          on chunk.deployment_id = log.deployment_id and chunk.service = log.service
        where deployments.id = ${deploymentId}
        order by chunk.seq`,
    );
  }

  /** Stores a change computed from this revision. Returns `false` when the log has another revision by now. */
  async #write({ deploymentId, service }: LogOwner, change: Changed, revision: number): Promise<boolean> {
    const { after, chunks, instanceId, keptFrom, leftOut, ownLeftOut } = change;
    // Locks the deployment, so that a concurrently removed one counts as missing instead of failing the insert.
    const rows = await this.#database.run(
      (sql) => sql`
        with owner as (
          select id from deployments where id = ${deploymentId} for key share
        ), log as (
          insert into runtime_logs as stored
            (deployment_id, service, last_seq, ends_with, after_seq, left_out, own_left_out, revision)
          select id, ${service}::text, ${chunks.at(-1)!.seq}::bigint, ${instanceId}::text, ${after}::bigint,
            ${jsonValue(sql, leftOut)}::jsonb, ${jsonValue(sql, ownLeftOut)}::jsonb, ${revision}::integer + 1
          from owner
          on conflict (deployment_id, service) do update
          set last_seq = excluded.last_seq, ends_with = excluded.ends_with, after_seq = excluded.after_seq,
            left_out = excluded.left_out, own_left_out = excluded.own_left_out, revision = excluded.revision
          where stored.revision = ${revision}
          returning deployment_id, service, revision
        ), dropped as (
          delete from runtime_log_chunks using log
          where runtime_log_chunks.deployment_id = log.deployment_id and runtime_log_chunks.service = log.service
            and (seq < ${keptFrom} or seq > ${after})
        ), added as (
          insert into runtime_log_chunks
            (deployment_id, service, seq, revision, last_at, line_count, bytes, lines)
          select deployment_id, log.service, chunk.seq::bigint, log.revision, chunk.at::timestamptz, chunk.count::integer,
            chunk.bytes::integer, chunk.lines
          from log, rows from (
            string_to_table(${chunks.map(({ text }) => text).join("\n")}::text, chr(10)),
            unnest(${chunks.map(({ seq }) => String(seq))}::text[]),
            unnest(${chunks.map(({ at }) => at.toISOString())}::text[]),
            unnest(${chunks.map(({ lines }) => String(lines))}::text[]),
            unnest(${chunks.map(({ bytes }) => String(bytes))}::text[])
          ) as chunk (lines, seq, at, count, bytes)
        )
        select 1 from log`,
    );
    return rows.length > 0;
  }

  /**
   * Reads chunks in order, up to `PAGE_ROWS` rows and about `PAGE_BYTES` bytes, each with the row count and the omitted
   * lines.
   */
  async #rows({ deploymentId, service }: LogOwner, { since, from }: { readonly since: number; readonly from: Date }) {
    return this.#database.run(
      (sql) => sql<(LeftOutColumns & { seq: number | null; lines: string | null; found: number | null })[]>`
        select log.left_out, log.own_left_out, page.seq, page.lines, page.found
        from runtime_logs as log left join lateral (
          select seq, lines, found
          from (
            select *, count(*) over () as found,
              sum(octet_length(lines)) over (order by seq) - octet_length(lines) as ahead
            from (
              select seq, lines from runtime_log_chunks as chunk
              where chunk.deployment_id = log.deployment_id and chunk.service = log.service
                and seq > ${since} and last_at >= ${from}
              order by seq limit ${PAGE_ROWS}
            ) as near
          ) as measured
          where ahead < ${PAGE_BYTES}
        ) as page on true
        where log.deployment_id = ${deploymentId} and log.service = ${service}
        order by page.seq`,
    );
  }
}

/** Computes the new state of a log with an instance's output added. */
async function changed(
  rows: readonly StandingRow[],
  { instanceId, leftOut, lines }: InstanceOutput,
  maxBytes: number,
): Promise<Changed> {
  const log = rows[0]!;
  const isAgain = log.ends_with === instanceId;
  const after = (isAgain ? log.after_seq : log.last_seq) ?? 0;
  const chunks = await logChunks(lines, after);
  const room = leftOut ? 0 : maxBytes - chunks.reduce((sum, { bytes }) => sum + bytes, 0);
  const tail = new OutputTail(room, isAgain ? leftOutOf(log.left_out) : allLeftOut(log));
  for (const { chunk_seq: seq, last_at: at, line_count: count, bytes } of rows) {
    if (seq !== null && seq <= after) tail.add({ seq, at, lines: count, bytes });
  }
  return {
    instanceId,
    after,
    leftOut: tail.leftOut,
    ownLeftOut: leftOut && { ...leftOut, seq: leftOut.seq + after },
    keptFrom: tail.parts[0]?.seq ?? after + 1,
    chunks,
  };
}

function allLeftOut({ left_out: leftOut, own_left_out: own }: LeftOutColumns): LeftOut | null {
  return leftOutTogether(leftOutOf(leftOut), leftOutOf(own));
}

function leftOutOf(stored: StoredLeftOut): LeftOut | null {
  return stored && { ...stored, at: new Date(stored.at) };
}
