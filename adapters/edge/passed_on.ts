import { forwardedFields, isClaim, type Peer } from "./forwarded.ts";
import { allFields, type HeaderField } from "./header_fields.ts";
import type { RequestHead } from "./request_head.ts";
import type { ResponseHead } from "./response_head.ts";

/** Returns the request head that is forwarded to the app. */
export function requestPassedOn(head: RequestHead, peer: Peer): string {
  const first = `${head.method} ${head.target} HTTP/1.1\r\nHost: ${head.host}\r\n`;
  const kept = keptFields(head, ({ name }) => {
    if (name === "host" || name === "expect" || name === "proxy" || forThisHop(name, head.hop)) return false;
    if (!isClaim(name)) return true;
    // No proxy writes `_`. Such a header is from its client.
    return peer.trusted && !name.includes("_") && !OWN_CLAIMS.has(name);
  });
  const text = first + kept + forwardedFields(peer, head.host, head.fields);
  return head.wantsWebSocket ? `${text}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n` : `${text}\r\n`;
}

/**
 * Changes of the proxy to a response: its Connection header, whether the body stays chunked, and an HSTS header line for
 * an app that sends none.
 */
export interface ResponseChange {
  readonly connection: string | undefined;
  readonly chunked: boolean;
  readonly hsts: string;
}

/** Returns the response head that is forwarded to the client. */
export function responsePassedOn(head: ResponseHead, { connection, chunked, hsts }: ResponseChange): string {
  const kept = keptFields(head, ({ name }) => !forThisHop(name, head.hop) && (chunked || name !== "transfer-encoding"));
  const text = `HTTP/1.1 ${head.status} ${head.reason}\r\n${kept}${lacksHsts(head) ? hsts : ""}`;
  return connection === undefined ? `${text}\r\n` : `${text}Connection: ${connection}\r\n\r\n`;
}

/** Returns whether a response head can be forwarded byte for byte. */
export function passesUnchanged(head: ResponseHead, { connection, chunked, hsts }: ResponseChange): boolean {
  if (connection !== undefined || !head.http11 || !chunked || head.hop.length > 0) return false;
  if (hsts !== "" && lacksHsts(head)) return false;
  for (const { name } of head.fields) if (forThisHop(name, head.hop)) return false;
  return true;
}

function lacksHsts({ lines }: ResponseHead): boolean {
  return !/^strict-transport-security:/im.test(lines);
}

/** Headers that this proxy sets itself, so that incoming ones are not forwarded. */
const OWN_CLAIMS = new Set(["x-forwarded-for", "x-forwarded-proto", "x-forwarded-host", "forwarded"]);
/** Members of a Connection header that are not field names, or name fields that are dropped anyway. */
const WORDS = new Set(["close", "keep-alive", "upgrade", "te", ""]);

/** Returns the lines of all fields that `keep` accepts, unchanged. */
function keptFields({ lines, hop, fields }: RequestHead | ResponseHead, keep: (field: HeaderField) => boolean): string {
  const looked = hop.every((word) => WORDS.has(word)) ? fields : allFields(lines);
  let kept = "";
  let from = 0;
  for (const field of looked) {
    if (keep(field)) continue;
    if (from < field.start) kept += lines.slice(from, field.start);
    from = field.next;
  }
  return kept + lines.slice(from);
}

/** Returns whether a field is hop-by-hop. Framing fields never are, whatever Connection lists (request smuggling). */
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
