import type { Http2Stream } from "./http2_stream.ts";

/** gRPC status codes. */
export const GRPC_STATUS = { ok: 0, unknown: 2, notFound: 5, unimplemented: 12 } as const;

const HEAD_BYTES = 5;
const MAX_MESSAGE_BYTES = 4 * 1_024 * 1_024;
const HEADERS = [
  [":status", "200"],
  ["content-type", "application/grpc"],
] as const;

/** One gRPC call from the engine to this side: messages in both directions over one HTTP/2 stream. */
export class GrpcStream {
  readonly #stream: Http2Stream;
  #responded = false;
  #ended = false;
  /** The last send; each waits for the previous one, so that messages never interleave. */
  #sent: Promise<void> = Promise.resolve();

  constructor(stream: Http2Stream) {
    this.#stream = stream;
  }

  /**
   * Yields the caller's messages until it has no more, or the stream breaks; throws a `RangeError` for one over 4 MiB.
   */
  async *messages(): AsyncGenerator<Uint8Array> {
    let waiting: Buffer = Buffer.alloc(0);
    for (let chunk = await this.#stream.read(); chunk !== undefined; chunk = await this.#stream.read()) {
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
      await this.#respond();
      await this.#stream.write(message);
    });
    return this.#sent;
  }

  /** Ends the call, with status OK by default; only the first call has an effect. */
  async end(status: number = GRPC_STATUS.ok, message = ""): Promise<void> {
    if (this.#ended) return;
    this.#ended = true;
    await this.#sent.catch(() => {});
    await this.#respond();
    await this.#stream.end([
      ["grpc-status", `${status}`],
      ["grpc-message", encodeURI(message)],
    ]);
  }

  async #respond(): Promise<void> {
    if (this.#responded) return;
    this.#responded = true;
    await this.#stream.respond(HEADERS);
  }
}
