import { forwardedFields, isClaim, type Peer } from "./forwarded.ts";
import type { RequestHead } from "./request_head.ts";
import type { ResponseHead } from "./response_head.ts";

/** The head of a request as its app gets it. */
export function requestPassedOn(head: RequestHead, peer: Peer): string {
  let text = `${head.method} ${head.target} HTTP/1.1\r\nHost: ${head.host}\r\n`;
  for (const { name, line } of head.fields) {
    if (name === "host" || name === "expect" || name === "proxy" || forThisHop(name, head.hop)) continue;
    if (isClaim(name) && !(peer.trusted && !OWN_CLAIMS.has(name))) continue;
    text += `${line}\r\n`;
  }
  text += forwardedFields(peer, head.host, head.fields);
  return head.wantsWebSocket ? `${text}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n` : `${text}\r\n`;
}

/** The head of an answer as the client gets it; `connection` is what this side says of its own connection. */
export function responsePassedOn(
  head: ResponseHead,
  { connection, chunked }: { readonly connection: string | undefined; readonly chunked: boolean },
): string {
  let text = `HTTP/1.1 ${head.status} ${head.reason}\r\n`;
  for (const { name, line } of head.fields) {
    if (forThisHop(name, head.hop) || (name === "transfer-encoding" && !chunked)) continue;
    text += `${line}\r\n`;
  }
  return connection === undefined ? `${text}\r\n` : `${text}Connection: ${connection}\r\n\r\n`;
}

/** Set by this proxy itself, so that they are not passed on as they came. */
const OWN_CLAIMS = new Set(["x-forwarded-for", "x-forwarded-proto", "x-forwarded-host", "forwarded"]);

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
