import type { Socket } from "node:net";
import { Duplex } from "node:stream";

const PREFACE_BYTES = 24;
const HEAD_BYTES = 9;
const MAX_FRAME_BYTES = 16_384;
const FRAME = { headers: 1, reset: 3, settings: 4, windowUpdate: 8 } as const;
const ACK = 1;
const SETTING_BYTES = 6;
const INITIAL_WINDOW = 4;
const DEFAULT_WINDOW = 65_535;

/**
 * Translates an HTTP/2 client's changes of the initial window into window updates of its streams, which mean the same.
 * It exists because Bun's own server (1.4.4) miscounts the window of a stream when the initial size changes, and then
 * waits forever; `tests/adapters/docker/http2_canary_test.ts` fails once that is repaired. Throws a `RangeError` for
 * what cannot be translated.
 */
export class GrantingUpdates {
  readonly #streams = new Set<number>();
  #waiting: Buffer = Buffer.alloc(0);
  #isGreeted = false;
  #lastStream = 0;
  /** The initial window of the client, and what the server takes for it. */
  #window = DEFAULT_WINDOW;
  #seenWindow = DEFAULT_WINDOW;

  /** Takes bytes from the client; returns those to hand to the server. */
  translate(bytes: Buffer): Buffer {
    this.#waiting = this.#waiting.length === 0 ? bytes : Buffer.concat([this.#waiting, bytes]);
    const pieces: Buffer[] = [];
    if (!this.#isGreeted && this.#waiting.length >= PREFACE_BYTES) {
      this.#isGreeted = true;
      pieces.push(this.#cut(PREFACE_BYTES));
    }
    while (this.#isGreeted && this.#waiting.length >= HEAD_BYTES) {
      const length = this.#waiting.readUIntBE(0, 3);
      if (length > MAX_FRAME_BYTES) throw new RangeError("A frame is too long");
      if (this.#waiting.length < HEAD_BYTES + length) break;
      pieces.push(...this.#frame(this.#cut(HEAD_BYTES + length)));
    }
    return Buffer.concat(pieces);
  }

  #cut(length: number): Buffer {
    const cut = this.#waiting.subarray(0, length);
    this.#waiting = this.#waiting.subarray(length);
    return cut;
  }

  #frame(frame: Buffer): Buffer[] {
    const [type, stream] = [frame[3]!, frame.readUInt32BE(5)];
    if (type === FRAME.settings && (frame[4]! & ACK) === 0) return this.#settings(frame);
    if (type === FRAME.reset) this.#streams.delete(stream);
    if (type !== FRAME.headers || stream <= this.#lastStream) return [frame];
    this.#lastStream = stream;
    this.#streams.add(stream);
    return [frame, ...windowUpdate(stream, this.#window - this.#seenWindow)];
  }

  #settings(frame: Buffer): Buffer[] {
    const kept: Buffer[] = [];
    const updates: Buffer[] = [];
    for (let at = HEAD_BYTES; at + SETTING_BYTES <= frame.length; at += SETTING_BYTES) {
      const setting = frame.subarray(at, at + SETTING_BYTES);
      const window = setting.readUInt16BE(0) === INITIAL_WINDOW ? setting.readUInt32BE(2) : undefined;
      if (window !== undefined && this.#lastStream > 0) updates.push(...this.#grow(window));
      else {
        kept.push(setting);
        if (window !== undefined) this.#window = this.#seenWindow = window;
      }
    }
    const head = Buffer.from(frame.subarray(0, HEAD_BYTES));
    head.writeUIntBE(kept.length * SETTING_BYTES, 0, 3);
    return [head, ...kept, ...updates];
  }

  #grow(window: number): Buffer[] {
    // Engines only ever grant more, by the bandwidth that they measure; no update can take anything back.
    if (window < this.#window) throw new RangeError("The initial window shrinks");
    const updates = [...this.#streams].flatMap((stream) => windowUpdate(stream, window - this.#window));
    this.#window = window;
    return updates;
  }
}

/** Encodes a frame that lets the server send this many more bytes; none for zero. */
function windowUpdate(stream: number, bytes: number): Buffer[] {
  if (bytes === 0) return [];
  const frame = Buffer.alloc(HEAD_BYTES + 4);
  frame.writeUIntBE(4, 0, 3);
  frame[3] = FRAME.windowUpdate;
  frame.writeUInt32BE(stream, 5);
  frame.writeUInt32BE(bytes, HEAD_BYTES);
  return [frame];
}

/** A connection whose received bytes are translated; some may have arrived already. */
export function grantingUpdates(socket: Socket, arrived: Buffer): Duplex {
  const granting = new GrantingUpdates();
  const take = (bytes: Buffer) => {
    try {
      const complete = granting.translate(bytes);
      if (complete.length > 0 && !translated.push(complete)) socket.pause();
    } catch {
      socket.destroy();
    }
  };
  const translated = new Duplex({
    read: () => void socket.resume(),
    write(bytes: Buffer, _encoding, done) {
      if (socket.write(bytes)) done();
      else socket.once("drain", done);
    },
    final: (done) => void socket.end(done),
    destroy(error, done) {
      socket.destroy();
      done(error);
    },
  });
  translated.on("error", () => {});
  socket.on("data", take);
  socket.on("close", () => translated.destroy());
  take(arrived);
  return translated;
}
