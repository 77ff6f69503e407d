import { BadMessage } from "./bad_message.ts";
import { type Framing, framingOf } from "./body_framing.ts";
import { type HeaderField, hopOf, specialFields } from "./header_fields.ts";

/** A parsed response head of an app. */
export interface ResponseHead {
  readonly status: number;
  /** The reason phrase that the app sent. */
  readonly reason: string;
  /** The header lines as sent, each with its line end. */
  readonly lines: string;
  /** The fields that concern a proxy. */
  readonly fields: readonly HeaderField[];
  readonly framing: Framing;
  /** Whether the app allows another request on the connection, according to its head. */
  readonly keepAlive: boolean;
  readonly hop: readonly string[];
  readonly http11: boolean;
}

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: ([\t\x20-\x7e\x80-\xff]*))?\r\n/;

/**
 * Parses the head of a response to a request with this method, without its final empty line; throws `BadMessage` for a
 * malformed one.
 */
export function responseHead(text: string, method: string): ResponseHead {
  const match = STATUS_LINE.exec(text);
  if (!match) throw new BadMessage(502, "the status line is malformed");
  const status = Number(match[2]);
  const lines = text.slice(match[0].length);
  const fields = specialFields(lines);
  const hop = hopOf(fields);
  const bodiless = method === "HEAD" || status < 200 || status === 204 || status === 304;
  return {
    status,
    reason: match[3] ?? "",
    lines,
    fields,
    framing: bodiless ? { kind: "none" } : (framingOf(fields) ?? { kind: "until_close" }),
    keepAlive: match[1] === "1" && !hop.includes("close"),
    hop,
    http11: match[1] === "1",
  };
}
