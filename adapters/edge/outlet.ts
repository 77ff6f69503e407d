import type { ClientSocket } from "./client_socket.ts";

/** Where all outlets encode texts, so that a text costs no buffer of its own; its bytes are gone after each write. */
const ENCODED = Buffer.allocUnsafeSlow(65_536);

/**
 * Writes to a socket in order and buffers what the kernel does not accept yet. Its users pause their sources while it
 * is full (backpressure).
 */
export class Outlet {
  #waiting: Buffer[] = [];
  readonly #socket: Pick<ClientSocket, "write">;

  constructor(socket: Pick<ClientSocket, "write">) {
    this.#socket = socket;
  }

  get empty(): boolean {
    return this.#waiting.length === 0;
  }

  /** Returns whether everything was written; if not, `flush` continues once the socket is writable again. */
  write(bytes: Buffer): boolean {
    if (this.#waiting.length > 0) {
      this.#waiting.push(bytes);
      return false;
    }
    const taken = Math.max(0, this.#socket.write(bytes));
    if (taken === bytes.length) return true;
    this.#waiting.push(bytes.subarray(taken));
    return false;
  }

  /** Writes a text, one byte per character. */
  writeText(text: string): boolean {
    if (this.#waiting.length > 0 || text.length > ENCODED.length) return this.write(Buffer.from(text, "latin1"));
    const length = ENCODED.write(text, "latin1");
    const taken = Math.max(0, this.#socket.write(ENCODED, 0, length));
    if (taken === length) return true;
    this.#waiting.push(Buffer.from(ENCODED.subarray(taken, length)));
    return false;
  }

  /** Writes buffered bytes; returns whether none are left. */
  flush(): boolean {
    while (this.#waiting.length > 0) {
      const next = this.#waiting[0]!;
      const taken = Math.max(0, this.#socket.write(next));
      if (taken < next.length) {
        this.#waiting[0] = next.subarray(taken);
        return false;
      }
      this.#waiting.shift();
    }
    return true;
  }
}
