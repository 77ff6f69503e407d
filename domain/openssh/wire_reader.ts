/** Reads a message in the encoding of the SSH protocol (RFC 4251). Throws a `RangeError` where the message is too short. */
export class WireReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** The number of bytes that were not read yet. */
  get left(): number {
    return this.#bytes.length - this.#at;
  }

  bytes(length: number): Uint8Array {
    if (length > this.left) throw new RangeError("The message ends too early");
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  byte(): number {
    return this.bytes(1)[0]!;
  }

  uint32(): number {
    const bytes = this.bytes(4);
    return new DataView(bytes.buffer, bytes.byteOffset).getUint32(0);
  }

  /** Reads bytes that are preceded by their length. */
  string(): Uint8Array {
    return this.bytes(this.uint32());
  }

  text(): string {
    return new TextDecoder().decode(this.string());
  }
}
