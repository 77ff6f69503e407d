import { BadMessage } from "./bad_message.ts";
import { type Framing, framingOf } from "./body_framing.ts";
import { type HeaderField, headerFields, listed } from "./header_fields.ts";

/** The head of a request that can be passed on safely. */
export interface RequestHead {
  readonly method: string;
  /** In origin form, or `*`. */
  readonly target: string;
  /** The target without its query. */
  readonly path: string;
  /** As it was sent, with its port; empty where an HTTP/1.0 client named none. */
  readonly host: string;
  readonly fields: readonly HeaderField[];
  readonly framing: Framing;
  readonly http10: boolean;
  readonly keepAlive: boolean;
  /** Names of fields that were meant for this hop only. */
  readonly hop: readonly string[];
  readonly wantsWebSocket: boolean;
  readonly expectsContinue: boolean;
}

const REQUEST_LINE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+) ([\x21-\x7e\x80-\xff]+) HTTP\/(\d)\.(\d)$/;
const HOST = /^(?:[0-9A-Za-z._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{0,5})?$/;
const ABSOLUTE = /^https?:\/\/([^/?#]*)(.*)$/i;
const NONE: Framing = { kind: "none" };

/** Reads a request's head, which ends before its empty line. */
export function requestHead(text: string): RequestHead {
  const lineEnd = text.indexOf("\r\n");
  const match = REQUEST_LINE.exec(lineEnd < 0 ? text : text.slice(0, lineEnd));
  if (!match) throw new BadMessage(400, "the request line is malformed");
  const [, method = "", target = "", major, minor = ""] = match;
  if (major !== "1") throw new BadMessage(505, "only HTTP/1 is spoken here");
  const http10 = minor === "0";
  const fields = lineEnd < 0 ? [] : headerFields(text, lineEnd + 2);
  const framing = framingOf(fields) ?? NONE;
  if (http10 && framing.kind === "chunked") throw new BadMessage(400, "HTTP/1.0 knows no chunks");
  const place = placeOf(method, target, hostOf(fields, http10));
  const hop = fields.flatMap(({ name, value }) => (name === "connection" ? listed(value) : []));
  const query = place.target.indexOf("?");
  return {
    method,
    ...place,
    path: query < 0 ? place.target : place.target.slice(0, query),
    fields,
    framing,
    http10,
    keepAlive: http10 ? hop.includes("keep-alive") : !hop.includes("close"),
    hop,
    wantsWebSocket: !http10 && method === "GET" && framing === NONE && hop.includes("upgrade") && asksWebSocket(fields),
    expectsContinue: !http10 && fields.some(({ name, value }) => name === "expect" && /^100-continue$/i.test(value)),
  };
}

function hostOf(fields: readonly HeaderField[], http10: boolean): string {
  const hosts = fields.filter(({ name }) => name === "host");
  if (hosts.length === 0 && http10) return "";
  if (hosts.length !== 1 || !HOST.test(hosts[0]!.value)) throw new BadMessage(400, "the Host field is malformed");
  return hosts[0]!.value;
}

/** An absolute target names the host by itself, and what the Host field says does not count. */
function placeOf(method: string, target: string, host: string): { readonly target: string; readonly host: string } {
  if (target.startsWith("/") || (target === "*" && method === "OPTIONS")) return { target, host };
  const [, authority = "", rest = ""] = ABSOLUTE.exec(target) ?? [];
  if (method === "CONNECT" || !HOST.test(authority)) throw new BadMessage(400, "the request target is malformed");
  return { target: rest.startsWith("/") ? rest : `/${rest}`, host: authority };
}

function asksWebSocket(fields: readonly HeaderField[]): boolean {
  return fields.some(({ name, value }) => name === "upgrade" && listed(value).includes("websocket"));
}
