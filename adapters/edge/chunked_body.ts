import { BadMessage } from "./bad_message.ts";
import type { BodyReader } from "./body_reader.ts";

type State =
  | "size"
  | "extension"
  | "size_end"
  | "content"
  | "content_end"
  | "line_end"
  | "trailer"
  | "trailer_end"
  | "end";

const CR = 13;
const LF = 10;
const TAB = 9;
const SEMICOLON = 59;
const MAX_DIGITS = 13;
/** Maximum bytes of one chunk extension, and of all trailers. */
const MAX_EXTRA = 16_384;

/**
 * Parses a chunked body with its trailers, strictly: rejects all spellings that other programs could parse differently.
 */
export class ChunkedBody implements BodyReader {
  #state: State = "size";
  #digits = 0;
  #left = 0;
  #extra = 0;
  #lineLength = 0;

  get done(): boolean {
    return this.#state === "end";
  }

  read(bytes: Buffer, from: number, content?: (bytes: Buffer) => void): number {
    let at = from;
    while (at < bytes.length && this.#state !== "end") {
      if (this.#state === "content") {
        const count = Math.min(this.#left, bytes.length - at);
        content?.(bytes.subarray(at, at + count));
        this.#left -= count;
        at += count;
        if (this.#left === 0) this.#state = "content_end";
      } else this.#step(bytes[at++]!);
    }
    return at;
  }

  #step(byte: number): void {
    switch (this.#state) {
      case "size":
        return this.#size(byte);
      case "extension":
        return this.#extension(byte);
      case "size_end":
        this.#expect(byte, LF, this.#left === 0 ? "trailer" : "content");
        this.#digits = 0;
        this.#extra = 0;
        return;
      case "content_end":
        return this.#expect(byte, CR, "line_end");
      case "line_end":
        return this.#expect(byte, LF, "size");
      case "trailer":
        return this.#trailer(byte);
      case "trailer_end":
        this.#expect(byte, LF, this.#lineLength === 0 ? "end" : "trailer");
        this.#lineLength = 0;
    }
  }

  #size(byte: number): void {
    const digit = hexDigit(byte);
    if (digit !== undefined) {
      if (++this.#digits > MAX_DIGITS) throw malformed();
      this.#left = this.#left * 16 + digit;
    } else if (this.#digits === 0) throw malformed();
    else if (byte === SEMICOLON) this.#state = "extension";
    else this.#expect(byte, CR, "size_end");
  }

  #extension(byte: number): void {
    if (byte === CR) this.#state = "size_end";
    else this.#text(byte);
  }

  #trailer(byte: number): void {
    if (byte === CR) {
      this.#state = "trailer_end";
      return;
    }
    this.#lineLength++;
    this.#text(byte);
  }

  #text(byte: number): void {
    if ((byte < 32 && byte !== TAB) || byte === 127 || ++this.#extra > MAX_EXTRA) throw malformed();
  }

  #expect(byte: number, wanted: number, next: State): void {
    if (byte !== wanted) throw malformed();
    this.#state = next;
  }
}

function hexDigit(byte: number): number | undefined {
  if (byte >= 48 && byte <= 57) return byte - 48;
  const letter = byte | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : undefined;
}

function malformed(): BadMessage {
  return new BadMessage(400, "the chunked body is malformed");
}
