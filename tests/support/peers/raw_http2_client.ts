import type { Socket } from "node:net";

/** The beginning of every HTTP/2 connection. */
export const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

export const FRAME = { data: 0, headers: 1, reset: 3, settings: 4, ping: 6, windowUpdate: 8, continuation: 9 } as const;

export const FLAG = { endStream: 1, ack: 1, endHeaders: 4, padded: 8, priority: 0x20 } as const;

const HEAD_BYTES = 9;
const SHORT_BYTES = 0x7f;

/** Encodes a frame. */
export function frame(type: number, stream: number, payload: Uint8Array = new Uint8Array(), flags = 0): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** Encodes a frame that lets the server send this many more bytes, on one stream or, for 0, on all together. */
export function windowUpdate(stream: number, bytes: number): Buffer {
  const payload = Buffer.alloc(4);
  payload.writeUInt32BE(bytes);
  return frame(FRAME.windowUpdate, stream, payload);
}

/** Encodes a frame that sets the initial flow-control window of all streams. */
export function initialWindow(bytes: number): Buffer {
  const setting = Buffer.from([0, 4, 0, 0, 0, 0]);
  setting.writeUInt32BE(bytes, 2);
  return frame(FRAME.settings, 0, setting);
}

/** Encodes the headers of a gRPC call, uncompressed. */
export function callHeaders(path: string, more: readonly (readonly [string, string])[] = []): Buffer {
  const pseudo = [
    [":method", "POST"],
    [":scheme", "http"],
    [":path", path],
    [":authority", "localhost"],
  ] as const;
  const fields = [...pseudo, ...more].flatMap(([name, value]) => [Uint8Array.of(0), encoded(name), encoded(value)]);
  return Buffer.concat(fields);
}

function encoded(text: string): Buffer {
  const bytes = Buffer.from(text);
  if (bytes.length >= SHORT_BYTES) throw new RangeError("Long headers are not supported here");
  return Buffer.concat([Uint8Array.of(bytes.length), bytes]);
}

export interface ReceivedFrame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Buffer;
}

/** An HTTP/2 client on a connection that sends any frames, valid or not, and grants nothing by itself. */
export class RawHttp2Client {
  readonly frames: ReceivedFrame[] = [];
  readonly #socket: Socket;
  #waiting: Buffer = Buffer.alloc(0);
  #news = Promise.withResolvers<void>();

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("error", () => {});
    socket.on("close", () => this.#tell());
    socket.on("data", (bytes: Buffer) => this.#take(bytes));
  }

  get isClosed(): boolean {
    return this.#socket.destroyed;
  }

  write(...pieces: readonly Uint8Array[]): void {
    this.#socket.write(Buffer.concat(pieces));
  }

  close(): void {
    this.#socket.destroy();
  }

  async until(satisfies: () => boolean): Promise<void> {
    while (!satisfies()) await this.#news.promise;
  }

  /** The data received on a stream. */
  data(stream: number): Buffer {
    const own = this.frames.filter((each) => each.type === FRAME.data && each.stream === stream);
    return Buffer.concat(own.map(({ payload }) => payload));
  }

  #take(bytes: Buffer): void {
    this.#waiting = Buffer.concat([this.#waiting, bytes]);
    while (this.#waiting.length >= HEAD_BYTES) {
      const end = HEAD_BYTES + this.#waiting.readUIntBE(0, 3);
      if (this.#waiting.length < end) break;
      const [type, flags, stream] = [this.#waiting[3]!, this.#waiting[4]!, this.#waiting.readUInt32BE(5)];
      this.frames.push({ type, flags, stream, payload: this.#waiting.subarray(HEAD_BYTES, end) });
      this.#waiting = this.#waiting.subarray(end);
    }
    this.#tell();
  }

  #tell(): void {
    this.#news.resolve();
    this.#news = Promise.withResolvers<void>();
  }
}
