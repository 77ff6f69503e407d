import { createServer } from "node:http2";
import { type AddressInfo, connect } from "node:net";
import { hpackEncode } from "../../../adapters/docker/build/http2/hpack.ts";
import { FLAG, FRAME, frame, FrameReader, windowUpdate } from "../../../adapters/docker/build/http2/http2_frames.ts";

/**
 * A program: Bun's own HTTP/2 server responds to a client that grants `RESPONSE_BYTES` for the stream in three steps:
 * the default, a window update, and then, by the program's argument, a larger initial window (`settings`) or a second
 * window update (`update`). Prints how many bytes the client received: all, or as many as came before a long silence.
 */

const STEP = 65_535;
const RESPONSE_BYTES = 3 * STEP;
const SILENCE_MS = 2_000;
const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
const REQUEST = hpackEncode([
  [":method", "POST"],
  [":scheme", "http"],
  [":path", "/"],
  [":authority", "localhost"],
]);

function initialWindow(bytes: number): Buffer {
  const setting = Buffer.from([0, 4, 0, 0, 0, 0]);
  setting.writeUInt32BE(bytes, 2);
  return frame(FRAME.settings, 0, setting);
}

const server = createServer();
server.on("stream", (stream) => {
  stream.on("error", () => {});
  stream.respond({ ":status": 200 });
  // The request's data follows all that the client grants.
  stream.once("data", () => stream.end(new Uint8Array(RESPONSE_BYTES)));
});
const listening = Promise.withResolvers<void>();
server.listen(0, "127.0.0.1", () => listening.resolve());
await listening.promise;

const reader = new FrameReader();
// A server sends no connection preface, so the reader gets one here.
for (const _ of reader.read(PREFACE)) throw new Error("A preface is no frame");
const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
const silence = Promise.withResolvers<void>();
let timer = setTimeout(() => silence.resolve(), SILENCE_MS);
let received = 0;
socket.on("data", (bytes: Buffer) => {
  clearTimeout(timer);
  timer = setTimeout(() => silence.resolve(), SILENCE_MS);
  for (const { type, payload } of reader.read(bytes)) if (type === FRAME.data) received += payload.length;
  if (received === RESPONSE_BYTES) silence.resolve();
});
socket.write(
  Buffer.concat([
    PREFACE,
    frame(FRAME.settings, 0),
    frame(FRAME.headers, 1, REQUEST, FLAG.endHeaders),
    windowUpdate(0, RESPONSE_BYTES),
    windowUpdate(1, STEP),
    process.argv[2] === "settings" ? initialWindow(2 * STEP) : windowUpdate(1, STEP),
    frame(FRAME.data, 1, Uint8Array.of(0), FLAG.endStream),
  ]),
);
await silence.promise;
process.stdout.write(`${received}`);
process.exit(0);
