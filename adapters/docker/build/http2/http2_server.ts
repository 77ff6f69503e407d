import type { Socket } from "node:net";
import { HpackDecoder } from "./hpack.ts";
import { dataFrames, FLAG, FRAME, FRAME_BYTES, type Frame, frame, FrameReader, windowUpdate } from "./http2_frames.ts";
import { BATCH_BYTES, Http2Stream, type StreamLink } from "./http2_stream.ts";

const WINDOW = 65_535;
const MAX_HEADER_BYTES = 4 * 1_024 * 1_024;
const SETTING = { initialWindow: 4, frameBytes: 5 } as const;

/**
 * The server side of one HTTP/2 connection (RFC 9113), reduced to what gRPC needs. It exists because Bun's own server
 * (1.4.4) miscounts the window of a stream when the client changes the initial size: a build then waits for its files
 * forever. `tests/adapters/docker/http2_canary_test.ts` fails once that is repaired.
 */
export class Http2Server implements StreamLink {
  readonly #socket: Socket;
  readonly #onStream: (stream: Http2Stream) => void;
  readonly #reader = new FrameReader();
  readonly #headers = new HpackDecoder();
  readonly #streams = new Map<number, Http2Stream>();
  #lastStream = 0;
  /** Headers that continue in the next frame. */
  #block: { readonly first: Frame; readonly pieces: Buffer[] } | undefined;
  #initialWindow = WINDOW;
  #window = WINDOW;
  #frameBytes = FRAME_BYTES;
  #changed = Promise.withResolvers<void>();

  constructor(socket: Socket, onStream: (stream: Http2Stream) => void) {
    this.#socket = socket;
    this.#onStream = onStream;
  }

  /** Starts serving the connection, on which some bytes may have arrived already. */
  begin(arrived: Buffer): void {
    this.#socket.write(frame(FRAME.settings, 0));
    this.#socket.on("data", (bytes: Buffer) => this.#take(bytes));
    this.#socket.on("drain", () => this.#wake());
    this.#socket.on("close", () => this.#end());
    this.#take(arrived);
  }

  get isOpen(): boolean {
    return !this.#socket.destroyed && this.#socket.writable;
  }

  get window(): number {
    return this.#window;
  }

  get changed(): Promise<void> {
    return this.#changed.promise;
  }

  async send(frames: Uint8Array): Promise<void> {
    if (!this.isOpen || this.#socket.write(frames)) return;
    while (this.isOpen && this.#socket.writableNeedDrain) await this.changed;
  }

  async sendData(stream: number, data: Uint8Array): Promise<void> {
    this.#window -= data.length;
    await this.send(dataFrames(stream, data, this.#frameBytes));
  }

  forget(stream: number): void {
    this.#streams.delete(stream);
  }

  #take(bytes: Buffer): void {
    try {
      for (const each of this.#reader.read(bytes)) this.#frame(each);
    } catch {
      this.#socket.destroy();
    }
  }

  #frame(given: Frame): void {
    const { type, flags, stream, payload } = given;
    if (this.#block && type !== FRAME.continuation) throw new RangeError("Headers are cut short");
    switch (type) {
      case FRAME.data:
        return this.#data(given);
      case FRAME.headers:
        return this.#headersBegin(given);
      case FRAME.continuation:
        return this.#headersGoOn(given);
      case FRAME.settings:
        return (flags & FLAG.ack) === 0 ? this.#settings(payload) : undefined;
      case FRAME.ping:
        if ((flags & FLAG.ack) === 0) void this.send(frame(FRAME.ping, 0, payload, FLAG.ack));
        return undefined;
      case FRAME.windowUpdate:
        return this.#update(stream, payload.readUInt32BE(0) & 0x7f_ff_ff_ff);
      case FRAME.reset:
        this.#streams.get(stream)?.close();
        return this.#wake();
      default:
        return undefined;
    }
  }

  #data(given: Frame): void {
    const { stream, payload, flags } = given;
    if (payload.length > 0) void this.send(windowUpdate(0, payload.length));
    this.#streams.get(stream)?.take(unpadded(given), payload.length, (flags & FLAG.endStream) !== 0);
  }

  #headersBegin(given: Frame): void {
    const skipped = (given.flags & FLAG.priority) === 0 ? 0 : 5;
    this.#block = { first: given, pieces: [unpadded(given).subarray(skipped)] };
    if ((given.flags & FLAG.endHeaders) !== 0) this.#headersEnd();
  }

  #headersGoOn({ payload, flags, stream }: Frame): void {
    if (this.#block?.first.stream !== stream) throw new RangeError("Headers go on that never began");
    this.#block.pieces.push(payload);
    const bytes = this.#block.pieces.reduce((total, piece) => total + piece.length, 0);
    if (bytes > MAX_HEADER_BYTES) throw new RangeError("Headers are too long");
    if ((flags & FLAG.endHeaders) !== 0) this.#headersEnd();
  }

  #headersEnd(): void {
    const { first, pieces } = this.#block!;
    this.#block = undefined;
    const headers = this.#headers.decode(Buffer.concat(pieces));
    const ends = (first.flags & FLAG.endStream) !== 0;
    // Later headers of a stream are trailers, which no call here uses.
    if (first.stream <= this.#lastStream) return this.#streams.get(first.stream)?.take(Buffer.alloc(0), 0, ends);
    this.#lastStream = first.stream;
    const stream = new Http2Stream(this, { id: first.stream, headers, window: this.#initialWindow });
    this.#streams.set(first.stream, stream);
    if (ends) stream.take(Buffer.alloc(0), 0, true);
    this.#onStream(stream);
  }

  #settings(payload: Buffer): void {
    for (let at = 0; at + 6 <= payload.length; at += 6) {
      const value = payload.readUInt32BE(at + 2);
      const setting = payload.readUInt16BE(at);
      if (setting === SETTING.frameBytes) this.#frameBytes = Math.min(value, BATCH_BYTES);
      if (setting !== SETTING.initialWindow) continue;
      for (const stream of this.#streams.values()) stream.window += value - this.#initialWindow;
      this.#initialWindow = value;
    }
    void this.send(frame(FRAME.settings, 0, undefined, FLAG.ack));
    this.#wake();
  }

  #update(stream: number, bytes: number): void {
    const found = this.#streams.get(stream);
    if (stream === 0) this.#window += bytes;
    else if (found) found.window += bytes;
    this.#wake();
  }

  #end(): void {
    for (const stream of this.#streams.values()) stream.close();
    this.#wake();
  }

  #wake(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers<void>();
  }
}

function unpadded({ payload, flags }: Frame): Buffer {
  if ((flags & FLAG.padded) === 0) return payload;
  const padding = payload[0] ?? 0;
  if (padding >= payload.length) throw new RangeError("A frame is all padding");
  return payload.subarray(1, payload.length - padding);
}
