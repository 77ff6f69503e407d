import { BadMessage } from "./bad_message.ts";
import type { BodyReader } from "./body_reader.ts";
import { ChunkedBody } from "./chunked_body.ts";
import type { HeaderField } from "./header_fields.ts";

/** How the length of a message body is delimited (RFC 9112). */
export type Framing =
  | { readonly kind: "none" }
  | { readonly kind: "length"; readonly length: number }
  | { readonly kind: "chunked" }
  | { readonly kind: "until_close" };

const LENGTH = /^\d{1,15}$/;

/**
 * Returns the body framing of the header fields; `undefined` if they specify none. Throws `BadMessage` for ambiguous
 * framing, which enables request smuggling.
 */
export function framingOf(fields: readonly HeaderField[]): Framing | undefined {
  let length: string | undefined;
  let coding: string | undefined;
  for (const field of fields) {
    if (field.name === "content-length") {
      const { value } = field;
      if (length !== undefined || !LENGTH.test(value)) throw new BadMessage(400, "the content length is malformed");
      length = value;
    } else if (field.name === "transfer-encoding") {
      const { value } = field;
      if (coding !== undefined || value.toLowerCase() !== "chunked")
        throw new BadMessage(501, "the transfer coding is unknown");
      coding = value;
    }
  }
  if (coding !== undefined && length !== undefined) throw new BadMessage(400, "the message has two lengths");
  if (coding !== undefined) return { kind: "chunked" };
  return length === undefined ? undefined : { kind: "length", length: Number(length) };
}

/** Creates the reader of a framing. */
export function bodyReader(framing: Framing): BodyReader {
  if (framing.kind === "chunked") return new ChunkedBody();
  if (framing.kind === "until_close") return ENDLESS;
  return framing.kind === "none" || framing.length === 0 ? EMPTY : new SizedBody(framing.length);
}

class SizedBody implements BodyReader {
  #left: number;

  constructor(length: number) {
    this.#left = length;
  }

  get done(): boolean {
    return this.#left === 0;
  }

  read(bytes: Buffer, from: number, content?: (bytes: Buffer) => void): number {
    const end = Math.min(from + this.#left, bytes.length);
    this.#left -= end - from;
    if (end > from) content?.(bytes.subarray(from, end));
    return end;
  }
}

const EMPTY: BodyReader = { done: true, read: (_, from) => from };

const ENDLESS: BodyReader = {
  done: false,
  read(bytes, from, content) {
    content?.(bytes.subarray(from));
    return bytes.length;
  },
};
