import type { ServerHttp2Stream } from "node:http2";

/** gRPC status codes. */
export const GRPC_STATUS = { ok: 0, unknown: 2, notFound: 5, unimplemented: 12 } as const;

const HEAD_BYTES = 5;
const MAX_MESSAGE_BYTES = 4 * 1_024 * 1_024;

/** One gRPC call from the engine to this side: messages in both directions over one HTTP/2 stream. */
export class GrpcStream {
  readonly #stream: ServerHttp2Stream;
  #ended = false;
  /** The last send; each waits for the previous one, so that messages never interleave. */
  #sent: Promise<void> = Promise.resolve();

  constructor(stream: ServerHttp2Stream) {
    this.#stream = stream;
    // Reads and writes report a closed stream themselves.
    stream.on("error", () => {});
  }

  /**
   * Yields the caller's messages until it has no more; throws when the stream breaks, and for a message over 4 MiB.
   */
  async *messages(): AsyncGenerator<Uint8Array> {
    let waiting: Buffer = Buffer.alloc(0);
    for await (const chunk of this.#stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      waiting = waiting.length === 0 ? chunk : Buffer.concat([waiting, chunk]);
      while (waiting.length >= HEAD_BYTES) {
        const length = waiting.readUInt32BE(1);
        if (length > MAX_MESSAGE_BYTES) throw new RangeError("Cannot read a message: it is too long");
        if (waiting.length < HEAD_BYTES + length) break;
        yield waiting.subarray(HEAD_BYTES, HEAD_BYTES + length);
        waiting = waiting.subarray(HEAD_BYTES + length);
      }
    }
  }

  /**
   * Sends a message; resolves once more may be sent and its buffers may be reused. Rejects when the stream is closed.
   */
  send(...pieces: readonly Uint8Array[]): Promise<void> {
    const head = Buffer.alloc(HEAD_BYTES);
    head.writeUInt32BE(
      pieces.reduce((total, piece) => total + piece.length, 0),
      1,
    );
    const message = Buffer.concat([head, ...pieces]);
    this.#sent = this.#sent.then(async () => {
      this.#respond();
      if (this.#isOpen && !this.#stream.write(message)) await this.#drained();
      if (!this.#isOpen) throw new Error("The stream is closed");
    });
    return this.#sent;
  }

  /** Ends the call, with status OK by default; only the first call has an effect. */
  async end(status: number = GRPC_STATUS.ok, message = ""): Promise<void> {
    if (this.#ended) return;
    this.#ended = true;
    await this.#sent.catch(() => {});
    this.#respond();
    if (!this.#isOpen) return;
    this.#stream.once("wantTrailers", () =>
      this.#stream.sendTrailers({ "grpc-status": `${status}`, "grpc-message": encodeURI(message) }),
    );
    this.#stream.end();
  }

  get #isOpen(): boolean {
    return !this.#stream.destroyed && !this.#stream.closed;
  }

  #respond(): void {
    if (this.#stream.headersSent || !this.#isOpen) return;
    this.#stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
  }

  #drained(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const done = () => {
      this.#stream.off("drain", done).off("close", done);
      resolve();
    };
    this.#stream.on("drain", done).on("close", done);
    return promise;
  }
}
