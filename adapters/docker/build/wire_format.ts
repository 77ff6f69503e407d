/** A field of a protobuf message: a number, or bytes for strings, byte strings and nested messages. */
export type WireField = readonly [field: number, value: number | Uint8Array];

const VARINT = 0;
const FIXED_64 = 1;
const BYTES = 2;
const FIXED_32 = 5;

/** Parses the fields of a protobuf message in order; throws a `RangeError` if it is truncated or malformed. */
export function* wireFields(message: Uint8Array): Generator<WireField> {
  const cursor = { at: 0 };
  while (cursor.at < message.length) {
    const key = varint(message, cursor);
    const field = Math.floor(key / 8);
    const type = key % 8;
    if (type === VARINT) yield [field, varint(message, cursor)];
    else if (type === BYTES) yield [field, take(message, cursor, varint(message, cursor))];
    else if (type === FIXED_64) take(message, cursor, 8);
    else if (type === FIXED_32) take(message, cursor, 4);
    else throw new RangeError("Cannot read a message: it has a field of an unknown type");
  }
}

function take(message: Uint8Array, cursor: { at: number }, length: number): Uint8Array {
  const end = cursor.at + length;
  if (end > message.length) throw new RangeError("Cannot read a message: it is cut short");
  const bytes = message.subarray(cursor.at, end);
  cursor.at = end;
  return bytes;
}

function varint(message: Uint8Array, cursor: { at: number }): number {
  let value = 0;
  for (let weight = 1; ; weight *= 128) {
    const byte = message[cursor.at++];
    if (byte === undefined || weight > 2 ** 63) throw new RangeError("Cannot read a message: a number is malformed");
    value += (byte & 0x7f) * weight;
    if (byte < 0x80) return value;
  }
}

const encoder = new TextEncoder();

/** Encodes a protobuf message field by field. Omits zeros and empty strings, as the format requires. */
export class WireMessage {
  readonly #pieces: Uint8Array[] = [];

  number(field: number, value: number | bigint): this {
    if (value !== 0 && value !== 0n) this.#pieces.push(varintBytes(field * 8 + VARINT), varintBytes(value));
    return this;
  }

  text(field: number, value: string): this {
    return value === "" ? this : this.bytes(field, encoder.encode(value));
  }

  bytes(field: number, value: Uint8Array): this {
    this.bytesHead(field, value.length);
    this.#pieces.push(value);
    return this;
  }

  /** Encodes the header of a bytes field whose `length` bytes are written separately. */
  bytesHead(field: number, length: number): this {
    this.#pieces.push(varintBytes(field * 8 + BYTES), varintBytes(length));
    return this;
  }

  finish(): Uint8Array {
    return Buffer.concat(this.#pieces);
  }
}

function varintBytes(value: number | bigint): Uint8Array {
  const bytes: number[] = [];
  let rest = typeof value === "bigint" ? BigInt.asUintN(64, value) : value;
  if (typeof rest === "bigint") {
    for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
    return Uint8Array.of(...bytes, Number(rest));
  }
  for (; rest > 0x7f; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80);
  return Uint8Array.of(...bytes, rest);
}
