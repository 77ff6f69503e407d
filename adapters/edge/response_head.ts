import { BadMessage } from "./bad_message.ts";
import { type Framing, framingOf } from "./body_framing.ts";
import { type HeaderField, hopOf, specialFields } from "./header_fields.ts";

/** The head of an app's answer. */
export interface ResponseHead {
  /** As it was sent, without its empty line. */
  readonly text: string;
  readonly status: number;
  /** What the app calls the status. */
  readonly reason: string;
  /** Those that concern a proxy. */
  readonly fields: readonly HeaderField[];
  readonly framing: Framing;
  /** Whether the app takes another request on the same connection, as far as its head tells. */
  readonly keepAlive: boolean;
  readonly hop: readonly string[];
  readonly http11: boolean;
}

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: ([\t\x20-\x7e\x80-\xff]*))?$/;

/** Reads the head of the answer to a request with this method, without its empty line. */
export function responseHead(text: string, method: string): ResponseHead {
  const lineEnd = text.indexOf("\r\n");
  const match = STATUS_LINE.exec(text.slice(0, lineEnd));
  if (!match) throw new BadMessage(502, "the status line is malformed");
  const status = Number(match[2]);
  const fields = specialFields(text, lineEnd);
  const hop = hopOf(fields);
  const bodiless = method === "HEAD" || status < 200 || status === 204 || status === 304;
  return {
    text,
    status,
    reason: match[3] ?? "",
    fields,
    framing: bodiless ? { kind: "none" } : (framingOf(fields) ?? { kind: "until_close" }),
    keepAlive: match[1] === "1" && !hop.includes("close"),
    hop,
    http11: match[1] === "1",
  };
}
