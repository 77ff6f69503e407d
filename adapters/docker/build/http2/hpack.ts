import { HUFFMAN_LENGTHS, STATIC_TABLE } from "./hpack_tables.ts";

/** A header's name and value. */
export type Header = readonly [name: string, value: string];

const TABLE_BYTES = 4_096;
const ENTRY_BYTES = 32;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * Decodes the compressed headers of one HTTP/2 connection (RFC 7541), block by block in order; throws a `RangeError`
 * for malformed input.
 */
export class HpackDecoder {
  /** The dynamic table, newest first. */
  readonly #recent: Header[] = [];
  #bytes = 0;
  #maxBytes = TABLE_BYTES;

  decode(block: Uint8Array): Header[] {
    const cursor = new Cursor(block);
    const headers: Header[] = [];
    while (!cursor.ended) {
      const first = cursor.peek();
      if (first >= 0x80) headers.push(this.#entry(cursor.number(7)));
      else if (first >= 0x40) headers.push(this.#remember(this.#literal(cursor, 6)));
      else if (first >= 0x20) this.#resize(cursor.number(5));
      else headers.push(this.#literal(cursor, 4));
    }
    return headers;
  }

  #literal(cursor: Cursor, prefix: number): Header {
    const index = cursor.number(prefix);
    const name = index === 0 ? cursor.text() : this.#entry(index)[0];
    return [name, cursor.text()];
  }

  #entry(index: number): Header {
    const found = STATIC_TABLE[index - 1] ?? this.#recent[index - 1 - STATIC_TABLE.length];
    if (found === undefined || index === 0) throw new RangeError("Cannot read headers: one is not in the table");
    return found;
  }

  #remember(header: Header): Header {
    this.#recent.unshift(header);
    this.#bytes += bytesOf(header);
    this.#evict();
    return header;
  }

  #resize(maxBytes: number): void {
    if (maxBytes > TABLE_BYTES) throw new RangeError("Cannot read headers: their table is too large");
    this.#maxBytes = maxBytes;
    this.#evict();
  }

  #evict(): void {
    while (this.#bytes > this.#maxBytes) this.#bytes -= bytesOf(this.#recent.pop()!);
  }
}

/** Encodes headers as literals; short ones are not worth a table. */
export function hpackEncode(headers: readonly Header[]): Uint8Array {
  return Buffer.concat(headers.flatMap(([name, value]) => [Uint8Array.of(0), ...written(name), ...written(value)]));
}

function written(text: string): Uint8Array[] {
  const bytes = encoder.encode(text);
  const length: number[] = [];
  if (bytes.length < 0x7f) length.push(bytes.length);
  else {
    length.push(0x7f);
    let rest = bytes.length - 0x7f;
    for (; rest >= 0x80; rest >>= 7) length.push((rest & 0x7f) | 0x80);
    length.push(rest);
  }
  return [Uint8Array.from(length), bytes];
}

function bytesOf([name, value]: Header): number {
  return encoder.encode(name).length + encoder.encode(value).length + ENTRY_BYTES;
}

class Cursor {
  readonly #block: Uint8Array;
  #at = 0;

  constructor(block: Uint8Array) {
    this.#block = block;
  }

  get ended(): boolean {
    return this.#at >= this.#block.length;
  }

  peek(): number {
    const byte = this.#block[this.#at];
    if (byte === undefined) throw new RangeError("Cannot read headers: they are cut short");
    return byte;
  }

  /** Decodes an integer that begins in the last `prefix` bits of a byte. */
  number(prefix: number): number {
    const full = 2 ** prefix - 1;
    let value = this.#next() & full;
    if (value < full) return value;
    for (let weight = 1; ; weight *= 128) {
      const byte = this.#next();
      value += (byte & 0x7f) * weight;
      if (value > 2 ** 31) throw new RangeError("Cannot read headers: a number is too large");
      if (byte < 0x80) return value;
    }
  }

  text(): string {
    const isCompressed = this.peek() >= 0x80;
    const length = this.number(7);
    const bytes = this.#block.subarray(this.#at, this.#at + length);
    if (bytes.length < length) throw new RangeError("Cannot read headers: they are cut short");
    this.#at += length;
    return decoder.decode(isCompressed ? expanded(bytes) : bytes);
  }

  #next(): number {
    const byte = this.peek();
    this.#at++;
    return byte;
  }
}

const END = 256;

/** The Huffman symbols of each code length, and the first code of that length. */
const CODES = codesByLength();

function codesByLength(): readonly { readonly first: number; readonly symbols: readonly number[] }[] {
  const codes: { first: number; symbols: number[] }[] = [];
  let next = 0;
  for (let length = 0; length <= 30; length++) {
    const symbols = HUFFMAN_LENGTHS.flatMap((each, symbol) => (each === length ? [symbol] : []));
    codes.push({ first: next, symbols });
    next = (next + symbols.length) * 2;
  }
  return codes;
}

function expanded(bytes: Uint8Array): Uint8Array {
  const symbols: number[] = [];
  let code = 0;
  let length = 0;
  for (const byte of bytes) {
    for (let bit = 7; bit >= 0; bit--) {
      code = code * 2 + ((byte >> bit) & 1);
      length++;
      const symbol = CODES[length]!.symbols[code - CODES[length]!.first];
      // All codes are assigned: thirty ones are the end symbol (EOS), which no string may contain.
      if (symbol === END) throw new RangeError("Cannot read headers: a text is malformed");
      if (symbol === undefined) continue;
      symbols.push(symbol);
      code = 0;
      length = 0;
    }
  }
  return Uint8Array.from(symbols);
}
