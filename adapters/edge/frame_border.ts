/** Tracks the frame boundaries of a WebSocket stream, to know where another frame can be inserted. */
export class FrameBorder {
  readonly #head = Buffer.alloc(14);
  #have = 0;
  #left = 0;

  /** Whether the next byte starts a frame. */
  get between(): boolean {
    return this.#have === 0 && this.#left === 0;
  }

  /** Consumes bytes, with `stop` only up to the next frame boundary; returns how many. */
  pass(bytes: Buffer, stop: boolean): number {
    let at = 0;
    while (at < bytes.length) {
      if (stop && this.between) return at;
      if (this.#left > 0) {
        const count = Math.min(this.#left, bytes.length - at);
        this.#left -= count;
        at += count;
        continue;
      }
      this.#head[this.#have++] = bytes[at++]!;
      if (this.#have === headLength(this.#head, this.#have)) {
        this.#left = payloadLength(this.#head);
        this.#have = 0;
      }
    }
    return at;
  }
}

function headLength(head: Buffer, have: number): number {
  if (have < 2) return 2;
  const size = head[1]! & 0x7f;
  return 2 + (size === 126 ? 2 : size === 127 ? 8 : 0) + (head[1]! & 0x80 ? 4 : 0);
}

function payloadLength(head: Buffer): number {
  const size = head[1]! & 0x7f;
  if (size === 126) return head.readUInt16BE(2);
  return size === 127 ? head.readUInt32BE(2) * 2 ** 32 + head.readUInt32BE(6) : size;
}
