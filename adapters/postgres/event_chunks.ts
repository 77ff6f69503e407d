import type { DeploymentEvent, NewEvent } from "../../domain/deployments/deployment_event.ts";
import type { Sql } from "./database.ts";
import { plainJson } from "./plain_json.ts";

/** The channel that tells of new events, as `<deployment> <number of the last>`; of a removed deployment with the number 0. */
export const EVENTS_CHANNEL = "slipway_events";

/** Events as they are stored: together, in a few rows. */
export interface EventChunks {
  readonly count: number;
  /** One JSON list a line. */
  readonly text: string;
  /** For each list: how many events there are before it, and with it. */
  readonly before: readonly string[];
  readonly upTo: readonly string[];
  /** For each list: the services with log lines in it, as JSON; `null` when it holds none. */
  readonly logServices: readonly (string | null)[];
}

/** A row of events as it is read. */
export interface EventChunkRow {
  readonly first_seq: number;
  readonly events: string;
}

const MAX_EVENTS = 1_000;
const MAX_LENGTH = 131_072;

/** Puts events together for storing, in order. */
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

/** Stores events of the deployment that the query `owner` names by `id`, its `last_seq` counting them already. */
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

/** Reads the events of rows, in order, those up to `since` left out. */
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
