import type { DeploymentEvent, NewEvent } from "../../domain/deployments/deployment_event.ts";
import { claimVoid } from "../../domain/deployments/claim_void.ts";
import { notFound } from "../../domain/failure.ts";
import type { DeploymentEvents } from "../../ports/deployments/deployment_events.ts";
import type { WorkClaim } from "../../ports/deployments/deployment_queue.ts";
import { isClaimed } from "./claimed.ts";
import type { Database, Sql } from "./database.ts";
import { type EventChunkRow, eventChunks, EVENTS_CHANNEL, eventsOf, insertChunks } from "./event_chunks.ts";
import { EventFeed, type EventPage } from "./event_feed.ts";
import type { PostgresSignals } from "./signals.ts";

interface LogFilter {
  readonly type: "log";
  readonly service?: string;
}

/** Selects event rows: after `since` and starting at most at `until`, or ending before `before`, newest first. */
interface ChunkQuery {
  readonly since: number;
  readonly until?: number;
  readonly before?: number;
  readonly only?: LogFilter;
}

interface EventQuery {
  readonly since: number;
  readonly limit: number;
  readonly newest?: boolean;
  readonly only?: LogFilter;
}

const PAGE_ROWS = 200;
const PAGE_BYTES = 1_048_576;

/** Stores the events of deployments in PostgreSQL. */
export class PostgresDeploymentEvents implements DeploymentEvents {
  readonly #database: Database;
  readonly #feeds = new Map<string, EventFeed>();
  readonly #pollMs: number | undefined;
  #closed = false;

  /** Polls every `pollMs` milliseconds for events whose notification was missed. */
  constructor(database: Database, signals: Pick<PostgresSignals, "subscribe" | "onReset">, pollMs?: number) {
    this.#database = database;
    this.#pollMs = pollMs;
    signals.subscribe(EVENTS_CHANNEL, (message) => {
      const [id = "", last] = message.split(" ");
      if (last === "0") this.#feeds.get(id)?.recheck();
      else this.#feeds.get(id)?.announce(Number(last));
    });
    signals.onReset(() => {
      for (const feed of this.#feeds.values()) feed.recheck();
    });
  }

  async append(deploymentId: string, events: readonly NewEvent[], claim?: WorkClaim): Promise<number> {
    const chunks = eventChunks(events);
    const [row] = await this.#database.run(
      (sql) => sql<{ last_seq: number }[]>`
        with owner as (
          update deployments set last_seq = last_seq + ${chunks.count}::bigint
          where id = ${deploymentId} ${claim ? sql`and ${isClaimed(sql, claim)}` : sql``}
          returning id, last_seq
        ), stored as (${insertChunks(sql, "owner", chunks)}
        )
        select last_seq, pg_notify(${EVENTS_CHANNEL}, id || ' ' || last_seq)::text from owner`,
    );
    if (row) return row.last_seq;
    throw claim && (await this.#last(deploymentId)) !== undefined ? claimVoid() : notFound("deployment");
  }

  async read(deploymentId: string, query: EventQuery): Promise<readonly DeploymentEvent[]> {
    const { since, limit, only } = query;
    if (query.newest) return this.#newest(deploymentId, query);
    const events: DeploymentEvent[] = [];
    const first = Math.max(since, 0);
    const until = only ? {} : { until: first + limit };
    for (let at = first; events.length < limit;) {
      const { rows, last } = await this.#rows(deploymentId, { since: at, ...until, ...(only && { only }) });
      for (const event of eventsOf(rows, at)) if (isWanted(event, only)) events.push(event);
      if (last === undefined) break;
      at = last;
    }
    return events.slice(0, limit);
  }

  async last(deploymentId: string): Promise<number> {
    return (await this.#last(deploymentId)) ?? 0;
  }

  async *follow(
    deploymentId: string,
    { since, signal }: { readonly since: number; readonly signal: AbortSignal },
  ): AsyncIterable<readonly DeploymentEvent[]> {
    const feed = this.#feedOf(deploymentId);
    try {
      using follower = feed.join(Math.max(since, 0), signal);
      for (let batch = await follower.next(); batch; batch = await follower.next()) yield batch;
    } finally {
      if (feed.idle) this.#forget(deploymentId, feed);
    }
  }

  /** Ends all followers. */
  close(): void {
    this.#closed = true;
    for (const feed of this.#feeds.values()) feed.close();
  }

  #feedOf(id: string): EventFeed {
    const known = this.#feeds.get(id);
    if (known) return known;
    const feed = new EventFeed({ last: () => this.#last(id), page: (since) => this.#page(id, since) }, this.#pollMs);
    if (this.#closed) feed.close();
    else this.#feeds.set(id, feed);
    return feed;
  }

  #forget(id: string, feed: EventFeed): void {
    feed.close();
    if (this.#feeds.get(id) === feed) this.#feeds.delete(id);
  }

  async #last(id: string): Promise<number | undefined> {
    const [row] = await this.#database.run(
      (sql) => sql<{ last_seq: number }[]>`select last_seq from deployments where id = ${id}`,
    );
    return row?.last_seq;
  }

  async #page(id: string, since: number): Promise<EventPage> {
    const { rows } = await this.#rows(id, { since });
    return { events: eventsOf(rows, since), bytes: rows.reduce((sum, { events }) => sum + events.length, 0) };
  }

  async #newest(id: string, { since, limit, only }: EventQuery): Promise<readonly DeploymentEvent[]> {
    const first = Math.max(since, 0);
    const pages: DeploymentEvent[][] = [];
    let found = 0;
    for (let before = Number.MAX_SAFE_INTEGER; found < limit;) {
      const { rows, last } = await this.#rows(id, { since: first, before, ...(only && { only }) });
      const page = eventsOf(rows.toReversed(), first).filter((event) => isWanted(event, only));
      pages.unshift(page);
      found += page.length;
      if (last === undefined) break;
      before = last;
    }
    return pages.flat().slice(-limit);
  }

  /**
   * Reads rows in order, up to `PAGE_ROWS` rows and about `PAGE_BYTES` bytes. `last` is the `seq` of the last row when
   * there may be more, a cursor for the next page.
   */
  async #rows(id: string, { since, until = Number.MAX_SAFE_INTEGER, before, only }: ChunkQuery) {
    const rows = await this.#database.run(
      (sql) => sql<(EventChunkRow & { readonly seq: number; readonly found: number })[]>`
        select seq, first_seq, events, found
        from (
          select *, count(*) over () as found,
            sum(octet_length(events)) over (order by seq ${direction(sql, before)}) - octet_length(events) as ahead
          from (
            select seq, first_seq, events from deployment_events
            where deployment_id = ${id} and seq > ${since} and first_seq <= ${until}
              ${before === undefined ? sql`` : sql`and seq < ${before}`}
              ${only ? sql`and log_services is not null` : sql``}
              ${only?.service === undefined ? sql`` : sql`and log_services @> to_jsonb(${only.service}::text)`}
            order by seq ${direction(sql, before)} limit ${PAGE_ROWS}
          ) as near
        ) as measured
        where ahead < ${PAGE_BYTES}
        order by seq ${direction(sql, before)}`,
    );
    const complete = rows.length === (rows[0]?.found ?? 0) && rows.length < PAGE_ROWS;
    return { rows, last: complete ? undefined : rows.at(-1)?.seq };
  }
}

function direction(sql: Sql, before: number | undefined) {
  return before === undefined ? sql`asc` : sql`desc`;
}

function isWanted(event: DeploymentEvent, only: LogFilter | undefined): boolean {
  if (!only) return true;
  return event.type === "log" && (only.service === undefined || event.service === only.service);
}
