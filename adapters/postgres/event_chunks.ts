import type { DeploymentEvent, NewEvent } from "../../domain/deployments/deployment_event.ts";
import type { Sql } from "./database.ts";
import { plainJson } from "./plain_json.ts";

/**
 * The NOTIFY channel of new events. The payload is `<deployment id> <number of the last event>`, with the number 0 for
 * a removed deployment.
 */
export const EVENTS_CHANNEL = "slipway_events";

/** Events as they are stored: batched into a few rows. */
export interface EventChunks {
  readonly count: number;
  /** One JSON array per line. */
  readonly text: string;
  /** For each array: the number of events before it, and the number up to and including it. */
  readonly before: readonly string[];
  readonly upTo: readonly string[];
  /** For each array: the services with log lines in it, as JSON, or `null` without log lines. */
  readonly logServices: readonly (string | null)[];
}

/** A row of events as selected. */
export interface EventChunkRow {
  readonly first_seq: number;
  readonly events: string;
}

const MAX_EVENTS = 1_000;
const MAX_LENGTH = 131_072;

/** Batches events for storage, in order. */
export function eventChunks(events: readonly NewEvent[]): EventChunks {
  const [lines, before, upTo, logServices]: [string[], string[], string[], (string | null)[]] = [[], [], [], []];
  let texts: string[] = [];
  let length = 0;
  let services = new Set<string | null>();
  for (const [index, event] of events.entries()) {
    const text = plainJson(event);
    texts.push(text);
    length += text.length;
    if (event.type === "log") services.add(event.service);
    if (texts.length < MAX_EVENTS && length < MAX_LENGTH && index < events.length - 1) continue;
    lines.push(`[${texts.join(",")}]`);
    before.push(String(index + 1 - texts.length));
    upTo.push(String(index + 1));
    logServices.push(services.size > 0 ? plainJson([...services]) : null);
    [texts, length, services] = [[], 0, new Set()];
  }
  return { count: events.length, text: lines.join("\n"), before, upTo, logServices };
}

/**
 * Returns the INSERT for events of the deployment in the CTE `owner` (`id`, `last_seq`), whose `last_seq` already
 * counts them.
 */
export function insertChunks(sql: Sql, owner: string, { count, text, before, upTo, logServices }: EventChunks) {
  return sql`
    insert into deployment_events (deployment_id, seq, first_seq, log_services, events)
    select owner.id, owner.last_seq - ${count}::bigint + chunk.up_to::bigint,
      owner.last_seq - ${count}::bigint + chunk.before::bigint + 1, chunk.log_services::jsonb, chunk.events
    from ${sql(owner)} as owner, rows from (
      string_to_table(${text}::text, chr(10)), unnest(${before}::text[]), unnest(${upTo}::text[]),
      unnest(${logServices}::text[])
    ) as chunk (events, before, up_to, log_services)`;
}

/** Parses the events of rows, in order, without those up to `since`. */
export function eventsOf(rows: readonly EventChunkRow[], since: number): DeploymentEvent[] {
  const events: DeploymentEvent[] = [];
  for (const row of rows) {
    let seq = row.first_seq;
    for (const event of JSON.parse(row.events) as Record<string, unknown>[]) {
      if (seq > since) events.push(revived(event, seq));
      seq++;
    }
  }
  return events;
}

function revived(event: Record<string, unknown>, seq: number): DeploymentEvent {
  event["seq"] = seq;
  if (event["type"] === "log") event["at"] = new Date(event["at"] as string);
  else if (event["type"] === "prompt") event["expiresAt"] = new Date(event["expiresAt"] as string);
  return event as unknown as DeploymentEvent;
}
