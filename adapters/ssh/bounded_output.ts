/** Keeps the first bytes of a stream and discards the rest. */
export class BoundedOutput {
  readonly #chunks: Uint8Array[] = [];
  readonly #maxBytes: number;
  #bytes = 0;
  #cut = false;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  add(chunk: Uint8Array): void {
    const room = this.#maxBytes - this.#bytes;
    if (chunk.length > room) this.#cut = true;
    if (room <= 0) return;
    this.#chunks.push(chunk.subarray(0, room));
    this.#bytes += Math.min(room, chunk.length);
  }

  /** Returns the kept bytes as text, without a character that the limit split. */
  text(): string {
    return new TextDecoder().decode(Buffer.concat(this.#chunks), { stream: this.#cut });
  }
}
