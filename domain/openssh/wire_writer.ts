const UTF8 = new TextEncoder();

/** Builds a message in the encoding of the SSH protocol (RFC 4251). */
export class WireWriter {
  readonly #parts: Uint8Array[] = [];

  /** Appends bytes as they are. */
  bytes(bytes: Uint8Array): this {
    this.#parts.push(bytes);
    return this;
  }

  byte(value: number): this {
    return this.bytes(Uint8Array.of(value));
  }

  uint32(value: number): this {
    const bytes = new Uint8Array(4);
    new DataView(bytes.buffer).setUint32(0, value);
    return this.bytes(bytes);
  }

  /** Appends bytes or a text, preceded by its length. */
  string(value: Uint8Array | string): this {
    const bytes = typeof value === "string" ? UTF8.encode(value) : value;
    return this.uint32(bytes.length).bytes(bytes);
  }

  /** Returns what was written so far. */
  end(): Uint8Array<ArrayBuffer> {
    const whole = new Uint8Array(this.#parts.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const part of this.#parts) {
      whole.set(part, at);
      at += part.length;
    }
    return whole;
  }
}
