import { type Header, hpackEncode } from "./hpack.ts";
import { FLAG, FRAME, frame, windowUpdate } from "./http2_frames.ts";

/** Maximum bytes of one write. */
export const BATCH_BYTES = 262_144;

/** The connection that a stream belongs to. */
export interface StreamLink {
  readonly isOpen: boolean;
  /** Flow-control window of the connection: how many bytes may be sent on all streams together. */
  readonly window: number;
  /** Resolves when more may be sent, or the connection has ended. */
  readonly changed: Promise<void>;
  /** Sends frames; resolves once the socket's send buffer has room again. */
  send(frames: Uint8Array): Promise<void>;
  /** Sends data for which the flow-control windows have room. */
  sendData(stream: number, data: Uint8Array): Promise<void>;
  forget(stream: number): void;
}

interface StreamStart {
  readonly id: number;
  readonly headers: readonly Header[];
  readonly window: number;
}

/** One request on an HTTP/2 connection, and its response. */
export class Http2Stream {
  readonly headers: readonly Header[];
  readonly #link: StreamLink;
  readonly #id: number;
  readonly #arrived: { readonly data: Buffer; readonly bytes: number }[] = [];
  #ended = false;
  #closed = false;
  #news = Promise.withResolvers<void>();
  /** Flow-control window of the stream: how many bytes may be sent. */
  window: number;

  constructor(link: StreamLink, { id, headers, window }: StreamStart) {
    this.#link = link;
    this.#id = id;
    this.headers = headers;
    this.window = window;
  }

  get isOpen(): boolean {
    return !this.#closed && this.#link.isOpen;
  }

  /** Called by the connection with received data and the number of bytes that it took in the window. */
  take(data: Buffer, bytes: number, ends: boolean): void {
    if (bytes > 0) this.#arrived.push({ data, bytes });
    this.#ended ||= ends;
    this.#notify();
  }

  /** Called by the connection when nothing more is received or sent. */
  close(): void {
    this.#closed = true;
    this.#ended = true;
    this.#notify();
  }

  /** Returns the next chunk; `undefined` at the end of the stream. */
  async read(): Promise<Buffer | undefined> {
    for (;;) {
      const next = this.#arrived.shift();
      if (next !== undefined) {
        if (!this.#ended) void this.#link.send(windowUpdate(this.#id, next.bytes));
        return next.data;
      }
      if (this.#ended) return undefined;
      await this.#news.promise;
    }
  }

  async respond(headers: readonly Header[], flags = 0): Promise<void> {
    if (this.isOpen)
      await this.#link.send(frame(FRAME.headers, this.#id, hpackEncode(headers), FLAG.endHeaders | flags));
  }

  /** Sends data as the flow-control windows allow, one call at a time. Rejects when the stream is closed. */
  async write(data: Uint8Array): Promise<void> {
    for (let at = 0; at < data.length;) {
      if (!this.isOpen) throw new Error("The stream is closed");
      const room = Math.min(this.window, this.#link.window, BATCH_BYTES);
      if (room <= 0) {
        await this.#link.changed;
        continue;
      }
      const piece = data.subarray(at, at + room);
      at += piece.length;
      this.window -= piece.length;
      await this.#link.sendData(this.#id, piece);
    }
  }

  /** Ends the response with trailers. */
  async end(trailers: readonly Header[]): Promise<void> {
    await this.respond(trailers, FLAG.endStream);
    this.#closed = true;
    this.#link.forget(this.#id);
    this.close();
  }

  #notify(): void {
    this.#news.resolve();
    this.#news = Promise.withResolvers<void>();
  }
}
