import { forwardedFields, isClaim, type Peer } from "./forwarded.ts";
import { allFields, type HeaderField } from "./header_fields.ts";
import type { RequestHead } from "./request_head.ts";
import type { ResponseHead } from "./response_head.ts";

/** The head of a request as its app gets it. */
export function requestPassedOn(head: RequestHead, peer: Peer): string {
  const first = `${head.method} ${head.target} HTTP/1.1\r\nHost: ${head.host}\r\n`;
  const kept = keptFields(head, ({ name }) => {
    if (name === "host" || name === "expect" || name === "proxy" || forThisHop(name, head.hop)) return false;
    return !isClaim(name) || (peer.trusted && !OWN_CLAIMS.has(name));
  });
  const text = first + kept + forwardedFields(peer, head.host, head.fields);
  return head.wantsWebSocket ? `${text}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n` : `${text}\r\n`;
}

/** What this side adds to an answer, and whether the answer's chunks stay. */
export interface ResponseChange {
  readonly connection: string | undefined;
  readonly chunked: boolean;
}

/** The head of an answer as the client gets it. */
export function responsePassedOn(head: ResponseHead, { connection, chunked }: ResponseChange): string {
  const kept = keptFields(head, ({ name }) => !forThisHop(name, head.hop) && (chunked || name !== "transfer-encoding"));
  const text = `HTTP/1.1 ${head.status} ${head.reason}\r\n${kept}`;
  return connection === undefined ? `${text}\r\n` : `${text}Connection: ${connection}\r\n\r\n`;
}

/** Whether an answer can be passed on with the very bytes of its head. */
export function passesUnchanged(head: ResponseHead, { connection, chunked }: ResponseChange): boolean {
  if (connection !== undefined || !head.http11 || !chunked || head.hop.length > 0) return false;
  for (const { name } of head.fields) if (forThisHop(name, head.hop)) return false;
  return true;
}

/** Set by this proxy itself, so that they are not passed on as they came. */
const OWN_CLAIMS = new Set(["x-forwarded-for", "x-forwarded-proto", "x-forwarded-host", "forwarded"]);
/** Members of a Connection field that are not names of fields, or of such that are dropped anyway. */
const WORDS = new Set(["close", "keep-alive", "upgrade", "te", ""]);

/** The lines of all fields but those that are not to be kept, as they were sent. */
function keptFields({ text, hop, fields }: RequestHead | ResponseHead, keep: (field: HeaderField) => boolean): string {
  const looked = hop.every((word) => WORDS.has(word)) ? fields : allFields(text);
  let kept = "";
  let from = text.indexOf("\r\n") + 2;
  for (const field of looked) {
    if (keep(field)) continue;
    if (from < field.start) kept += text.slice(from, field.start);
    from = field.next;
  }
  return kept + text.slice(from);
}

/** What says where a body ends stays, whatever a Connection field says. */
function forThisHop(name: string, hop: readonly string[]): boolean {
  switch (name) {
    case "connection":
    case "keep-alive":
    case "proxy-connection":
    case "proxy-authorization":
    case "te":
    case "upgrade":
      return true;
    case "content-length":
    case "transfer-encoding":
      return false;
    default:
      return hop.length > 0 && hop.includes(name);
  }
}
