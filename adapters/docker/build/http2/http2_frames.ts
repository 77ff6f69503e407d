/** Frame types. */
export const FRAME = {
  data: 0,
  headers: 1,
  reset: 3,
  settings: 4,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

/** Frame flags; `ack` acknowledges settings and pings. */
export const FLAG = { endStream: 1, ack: 1, endHeaders: 4, padded: 8, priority: 0x20 } as const;

/** Maximum frame length unless the peer allows more. */
export const FRAME_BYTES = 16_384;

/** One frame of an HTTP/2 connection. */
export interface Frame {
  readonly type: number;
  readonly flags: number;
  /** Zero for the connection as a whole. */
  readonly stream: number;
  readonly payload: Buffer;
}

const HEAD_BYTES = 9;
const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
const NOTHING = new Uint8Array();

/** Encodes a frame. */
export function frame(type: number, stream: number, payload: Uint8Array = NOTHING, flags = 0): Buffer {
  const bytes = Buffer.allocUnsafe(HEAD_BYTES + payload.length);
  bytes.writeUIntBE(payload.length, 0, 3);
  bytes[3] = type;
  bytes[4] = flags;
  bytes.writeUInt32BE(stream, 5);
  bytes.set(payload, HEAD_BYTES);
  return bytes;
}

/** Encodes data of any length as consecutive frames. */
export function dataFrames(stream: number, data: Uint8Array, frameBytes: number): Buffer {
  const count = Math.ceil(data.length / frameBytes);
  const bytes = Buffer.allocUnsafe(data.length + count * HEAD_BYTES);
  let to = 0;
  for (let from = 0; from < data.length; from += frameBytes) {
    const piece = data.subarray(from, from + frameBytes);
    bytes.writeUIntBE(piece.length, to, 3);
    bytes.writeUInt16BE(0, to + 3);
    bytes.writeUInt32BE(stream, to + 5);
    bytes.set(piece, to + HEAD_BYTES);
    to += HEAD_BYTES + piece.length;
  }
  return bytes;
}

/** Encodes a frame that lets the peer send this many more bytes. */
export function windowUpdate(stream: number, bytes: number): Buffer {
  const payload = Buffer.alloc(4);
  payload.writeUInt32BE(bytes, 0);
  return frame(FRAME.windowUpdate, stream, payload);
}

/** Parses the bytes of a client into frames; throws a `RangeError` for anything that is not HTTP/2. */
export class FrameReader {
  #waiting: Buffer = Buffer.alloc(0);
  #greeted = false;

  *read(bytes: Buffer): Generator<Frame> {
    this.#waiting = this.#waiting.length === 0 ? bytes : Buffer.concat([this.#waiting, bytes]);
    if (!this.#greeted && !this.#greet()) return;
    for (let next = this.#frame(); next !== undefined; next = this.#frame()) yield next;
  }

  #greet(): boolean {
    const greeting = this.#waiting.subarray(0, PREFACE.length);
    if (!PREFACE.subarray(0, greeting.length).equals(greeting)) throw new RangeError("This is not HTTP/2");
    this.#greeted = greeting.length === PREFACE.length;
    if (this.#greeted) this.#waiting = this.#waiting.subarray(PREFACE.length);
    return this.#greeted;
  }

  #frame(): Frame | undefined {
    const waiting = this.#waiting;
    if (waiting.length < HEAD_BYTES) return undefined;
    const length = waiting.readUIntBE(0, 3);
    if (length > FRAME_BYTES) throw new RangeError("A frame is too long");
    if (waiting.length < HEAD_BYTES + length) return undefined;
    this.#waiting = waiting.subarray(HEAD_BYTES + length);
    return {
      type: waiting[3]!,
      flags: waiting[4]!,
      stream: waiting.readUInt32BE(5) & 0x7f_ff_ff_ff,
      payload: waiting.subarray(HEAD_BYTES, HEAD_BYTES + length),
    };
  }
}
