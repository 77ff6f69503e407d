import { BadMessage } from "./bad_message.ts";
import { type Framing, framingOf } from "./body_framing.ts";
import { fieldValue, type HeaderField, hopOf, listed, specialFields } from "./header_fields.ts";

/** A parsed request head that can be forwarded safely. */
export interface RequestHead {
  readonly method: string;
  /** In origin form, or `*`. */
  readonly target: string;
  /** The target without its query. */
  readonly path: string;
  /** The Host header as sent, with its port; empty for an HTTP/1.0 request without one. */
  readonly host: string;
  /** The header lines as sent, each with its line end. */
  readonly lines: string;
  /** The fields that concern a proxy. */
  readonly fields: readonly HeaderField[];
  readonly framing: Framing;
  readonly http10: boolean;
  readonly keepAlive: boolean;
  /** Members of the Connection header: hop-by-hop field names and options. */
  readonly hop: readonly string[];
  readonly wantsWebSocket: boolean;
  readonly expectsContinue: boolean;
}

const REQUEST_LINE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+) ([\x21-\x7e\x80-\xff]+) HTTP\/(\d)\.(\d)\r\n/;
const HOST = /^(?:[0-9A-Za-z._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{0,5})?$/;
const ABSOLUTE = /^https?:\/\/([^/?#]*)(.*)$/i;
const NONE: Framing = { kind: "none" };

/** Parses a request head, without its final empty line; throws `BadMessage` for a malformed one. */
export function requestHead(text: string): RequestHead {
  const match = REQUEST_LINE.exec(text);
  if (!match) throw new BadMessage(400, "the request line is malformed");
  const [line, method = "", target = "", major, minor = ""] = match;
  if (major !== "1") throw new BadMessage(505, "only HTTP/1 is supported here");
  const http10 = minor === "0";
  const lines = text.slice(line.length);
  const fields = specialFields(lines);
  const framing = framingOf(fields) ?? NONE;
  if (http10 && framing.kind === "chunked") throw new BadMessage(400, "HTTP/1.0 has no chunked encoding");
  const host = target.startsWith("/") ? hostOf(fields, http10) : hostOfTarget(method, target, fields);
  const origin = target.startsWith("/") ? target : originForm(target);
  const hop = hopOf(fields);
  return {
    method,
    target: origin,
    path: pathOf(origin),
    host,
    lines,
    fields,
    framing,
    http10,
    keepAlive: http10 ? hop.includes("keep-alive") : !hop.includes("close"),
    hop,
    wantsWebSocket: hop.includes("upgrade") && !http10 && method === "GET" && framing === NONE && asksWebSocket(fields),
    expectsContinue: !http10 && framing !== NONE && /^100-continue$/i.test(fieldValue(fields, "expect") ?? ""),
  };
}

/** Returns the same request for another target, which has to be in origin form. */
export function withTarget(head: RequestHead, target: string): RequestHead {
  return { ...head, target, path: pathOf(target) };
}

function pathOf(target: string): string {
  const query = target.indexOf("?");
  return query < 0 ? target : target.slice(0, query);
}

function hostOf(fields: readonly HeaderField[], http10: boolean): string {
  let host: string | undefined;
  for (const field of fields) {
    if (field.name !== "host") continue;
    if (host !== undefined) throw new BadMessage(400, "there are two Host fields");
    host = field.value;
  }
  if (host === undefined && http10) return "";
  if (host === undefined || !HOST.test(host)) throw new BadMessage(400, "the Host field is malformed");
  return host;
}

/** An absolute-form target determines the host; the Host header is ignored then. */
function hostOfTarget(method: string, target: string, fields: readonly HeaderField[]): string {
  const named = hostOf(fields, false);
  if (target === "*" && method === "OPTIONS") return named;
  const authority = ABSOLUTE.exec(target)?.[1] ?? "";
  if (method === "CONNECT" || !HOST.test(authority)) throw new BadMessage(400, "the request target is malformed");
  return authority;
}

function originForm(target: string): string {
  if (target === "*") return target;
  const rest = ABSOLUTE.exec(target)?.[2] ?? "";
  return rest.startsWith("/") ? rest : `/${rest}`;
}

function asksWebSocket(fields: readonly HeaderField[]): boolean {
  return fields.some(({ name, value }) => name === "upgrade" && listed(value).includes("websocket"));
}
