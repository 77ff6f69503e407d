import type { TLSSocket } from "node:tls";
import type { ClientSocket } from "../client_socket.ts";

/** What is served over a TLS connection. */
export interface TlsUser {
  received(bytes: Buffer): void;
  writable(): void;
  closed(): void;
}

/**
 * A TLS connection as a client connection uses it. It accepts whole writes until its buffer is full (65,536 bytes), and
 * nothing from then on until the buffer is empty: a client that does not read costs little more than that.
 */
export class TlsClientSocket implements ClientSocket {
  readonly #socket: TLSSocket;

  constructor(socket: TLSSocket) {
    this.#socket = socket;
  }

  /** Passes on all events of the connection; `failed` gets errors of the user, which end the connection. */
  serve(user: TlsUser, failed: (error: unknown) => void): void {
    const socket = this.#socket;
    const guarded = (work: () => void) => {
      try {
        work();
      } catch (error) {
        failed(error);
        this.terminate();
      }
    };
    socket.on("data", (bytes) => guarded(() => user.received(bytes)));
    socket.on("drain", () => guarded(() => user.writable()));
    // A client that closes its half waits for nothing more, as on plain connections.
    socket.on("end", () => socket.destroy());
    socket.on("error", () => socket.destroy());
    socket.on("close", () => user.closed());
  }

  write(bytes: Uint8Array, byteOffset = 0, byteLength = bytes.length - byteOffset): number {
    const socket = this.#socket;
    if (!socket.writable || socket.writableNeedDrain) return 0;
    const part = byteLength === bytes.length ? bytes : bytes.subarray(byteOffset, byteOffset + byteLength);
    // The first write is encrypted at once. Those that wait behind it need a copy: the caller may reuse its buffer.
    socket.write(socket.writableLength === 0 ? part : Buffer.copyBytesFrom(part));
    return byteLength;
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  end(): void {
    this.#socket.destroySoon();
  }

  shutdown(): void {
    this.#socket.end();
  }

  terminate(): void {
    this.#socket.resetAndDestroy();
  }
}
