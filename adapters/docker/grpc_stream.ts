import type { ServerHttp2Stream } from "node:http2";

/** How a call ends; the numbers are those of gRPC. */
export const GRPC_STATUS = { ok: 0, unknown: 2, notFound: 5, unimplemented: 12 } as const;

const HEAD_BYTES = 5;
const MAX_MESSAGE_BYTES = 4 * 1_024 * 1_024;

/** One gRPC call that the engine makes to this side: messages both ways over one HTTP/2 stream. */
export class GrpcStream {
  readonly #stream: ServerHttp2Stream;
  #responded = false;

  constructor(stream: ServerHttp2Stream) {
    this.#stream = stream;
    // Without a listener the end of a connection would end the process; readers and writers see it by themselves.
    stream.on("error", () => {});
  }

  /** The messages of the caller until it has no more, or the stream breaks. May be left early without breaking it. */
  async *messages(): AsyncGenerator<Uint8Array> {
    let waiting: Buffer = Buffer.alloc(0);
    for (let chunk = await this.#chunk(); chunk !== undefined; chunk = await this.#chunk()) {
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

  /** Sends a message; resolves once more may be sent. Rejects when the stream is gone. */
  async send(...pieces: readonly Uint8Array[]): Promise<void> {
    this.#respond();
    const length = pieces.reduce((total, piece) => total + piece.length, 0);
    const head = Buffer.alloc(HEAD_BYTES);
    head.writeUInt32BE(length, 1);
    if (!this.#isOpen()) throw new Error("The stream is closed");
    if (this.#stream.write(Buffer.concat([head, ...pieces]))) return;
    await this.#next("drain", "close");
    if (!this.#isOpen()) throw new Error("The stream is closed");
  }

  /** Ends the call, well unless a status tells otherwise. */
  end(status: number = GRPC_STATUS.ok, message = ""): void {
    if (!this.#isOpen()) return;
    const trailers = { "grpc-status": `${status}`, ...(message !== "" && { "grpc-message": encodeURI(message) }) };
    this.#respond();
    this.#stream.on("wantTrailers", () => this.#stream.sendTrailers(trailers));
    this.#stream.end();
  }

  /** What has arrived; `undefined` once nothing more will. */
  async #chunk(): Promise<Buffer | undefined> {
    const stream = this.#stream;
    for (;;) {
      const chunk = stream.read() as Buffer | null;
      if (chunk !== null) return chunk;
      if (stream.readableEnded || stream.destroyed) return undefined;
      await this.#next("readable", "end", "close");
    }
  }

  #respond(): void {
    if (this.#responded || !this.#isOpen()) return;
    this.#responded = true;
    this.#stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
  }

  #isOpen(): boolean {
    return !this.#stream.destroyed && !this.#stream.closed && !this.#stream.writableEnded;
  }

  /** Waits for the first of some events. */
  #next(...events: readonly string[]): Promise<void> {
    return new Promise((resolve) => {
      const onEvent = () => {
        for (const event of events) this.#stream.off(event, onEvent);
        resolve();
      };
      for (const event of events) this.#stream.on(event, onEvent);
    });
  }
}
