import { createServer } from "node:http2";
import { type AddressInfo, connect } from "node:net";
import {
  callHeaders,
  FLAG,
  FRAME,
  frame,
  initialWindow,
  PREFACE,
  RawHttp2Client,
  windowUpdate,
} from "./raw_http2_client.ts";

/**
 * A program: Bun's own HTTP/2 server responds to a client that grants `RESPONSE_BYTES` for the stream in three steps:
 * the default, a window update, and then, by the program's argument, a larger initial window (`settings`) or a second
 * window update (`update`). Prints how many bytes the client received: all, or as many as came in a long time.
 */

const STEP = 65_535;
const RESPONSE_BYTES = 3 * STEP;
/** Many times as long as it takes. */
const WAIT_MS = 3_000;

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

const client = new RawHttp2Client(connect((server.address() as AddressInfo).port, "127.0.0.1"));
client.write(
  PREFACE,
  frame(FRAME.settings, 0),
  frame(FRAME.headers, 1, callHeaders("/"), FLAG.endHeaders),
  windowUpdate(0, RESPONSE_BYTES),
  windowUpdate(1, STEP),
  process.argv[2] === "settings" ? initialWindow(2 * STEP) : windowUpdate(1, STEP),
  frame(FRAME.data, 1, Uint8Array.of(0), FLAG.endStream),
);
await Promise.race([client.until(() => client.data(1).length === RESPONSE_BYTES), Bun.sleep(WAIT_MS)]);
process.stdout.write(`${client.data(1).length}`);
process.exit(0);
