import type { Http2Stream } from "./http2_stream.ts";

/** How a call ends; the numbers are those of gRPC. */
export const GRPC_STATUS = { ok: 0, unknown: 2, notFound: 5, unimplemented: 12 } as const;

const HEAD_BYTES = 5;
const MAX_MESSAGE_BYTES = 4 * 1_024 * 1_024;
const HEADERS = [
  [":status", "200"],
  ["content-type", "application/grpc"],
] as const;

/** One gRPC call that the engine makes to this side: messages both ways over one HTTP/2 stream. */
export class GrpcStream {
  readonly #stream: Http2Stream;
  #responded = false;
  #ended = false;
  /** What was sent last: messages never mix. */
  #sent: Promise<void> = Promise.resolve();

  constructor(stream: Http2Stream) {
    this.#stream = stream;
  }

  /** The messages of the caller until it has no more, or the stream breaks. */
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

  /** Sends a message; resolves once more may be sent, and its bytes be used again. Rejects when the stream is gone. */
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

  /** Ends the call, well unless a status tells otherwise; only the first end counts. */
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
