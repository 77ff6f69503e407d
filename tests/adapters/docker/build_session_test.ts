import { describe, expect, test } from "bun:test";
import { type ClientHttp2Session, connect as connectHttp2, type OutgoingHttpHeaders } from "node:http2";
import { createServer, type Socket } from "node:net";
import { BuildSession, type CallHandler, type CallMetadata } from "../../../adapters/docker/build/build_session.ts";
import { EngineApi } from "../../../adapters/docker/engine/engine_api.ts";
import { eventually } from "../../support/eventually.ts";
import { randomInput } from "../../support/inputs/random_input.ts";
import {
  callHeaders,
  FLAG,
  FRAME,
  frame,
  initialWindow,
  PREFACE,
  RawHttp2Client,
  windowUpdate,
} from "../../support/peers/raw_http2_client.ts";

const HEALTH = "/grpc.health.v1.Health/Check";
const METHOD = "/test/Method";
const UPGRADED = "HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n";
const CALL = frame(FRAME.headers, 1, callHeaders(METHOD), FLAG.endHeaders);
/** How a gRPC message begins: not compressed, and its length. */
const HEAD_BYTES = 5;

/** A session with an engine that the test plays; its only method is the given one. */
async function openSession<Client>(handler: CallHandler, client: (socket: Socket) => Client) {
  const { promise: accepted, resolve } = Promise.withResolvers<Client>();
  const server = createServer((socket: Socket) => {
    socket.on("error", () => {});
    socket.once("data", () => resolve(client(socket)));
  });
  const listening = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", () => listening.resolve());
  await listening.promise;
  const { port } = server.address() as { port: number };
  const session = await BuildSession.open(new EngineApi(`tcp://127.0.0.1:${port}`), { [METHOD]: handler }, "key");
  return {
    engine: await accepted,
    [Symbol.dispose]() {
      session[Symbol.dispose]();
      server.close();
    },
  };
}

/** An engine that sends well-formed requests. */
function wellBehaved(socket: Socket): ClientHttp2Session {
  socket.write(UPGRADED);
  return connectHttp2("http://localhost", { createConnection: () => socket });
}

/** An engine that sends any frames; the first come together with its response. */
function raw(...first: readonly Uint8Array[]): (socket: Socket) => RawHttp2Client {
  return (socket) => {
    const client = new RawHttp2Client(socket);
    client.write(Buffer.from(UPGRADED), PREFACE, frame(FRAME.settings, 0), ...first);
    return client;
  };
}

/** Calls a method; resolves to its gRPC status and the bytes of its response. */
function call(engine: ClientHttp2Session, headers: OutgoingHttpHeaders, body = Buffer.alloc(0)) {
  return new Promise<{ status: string; bytes: Buffer }>((resolve, reject) => {
    const stream = engine.request({ ":method": "POST", ":path": HEALTH, ...headers });
    const chunks: Buffer[] = [];
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    stream.on("trailers", (trailers) =>
      resolve({ status: `${trailers["grpc-status"]}`, bytes: Buffer.concat(chunks) }),
    );
    stream.on("error", reject);
    stream.end(body);
  });
}

/** Encodes a gRPC message. */
function message(content: string | Uint8Array): Buffer {
  const bytes = Buffer.from(content);
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32BE(bytes.length, 1);
  return Buffer.concat([head, bytes]);
}

const unused: CallHandler = async () => {};
const echo: CallHandler = async (given) => {
  for await (const each of given.messages()) await given.send(each);
};

describe("BuildSession", () => {
  test("fails a call whose metadata makes no sense, and answers the next", async () => {
    using session = await openSession(unused, wellBehaved);
    const status = async (headers: OutgoingHttpHeaders) => (await call(session.engine, headers)).status;
    expect(await status({ include: "%E0%A4%A", "include-encoded": "1" })).toBe("2");
    expect(await status({ include: "a%20b", "include-encoded": "1" })).toBe("0");
    expect(await status({ ":path": "/no.such/Method" })).toBe("12");
    session.engine.destroy();
  });

  test("answers calls at the same time, with as many messages as are asked for", async () => {
    using session = await openSession(echo, wellBehaved);
    const bodies = ["a", "b", "c"].map((letter) =>
      Buffer.concat(Array.from({ length: 50 }, (_, index) => message(letter.repeat(index * 500)))),
    );
    const answers = await Promise.all(bodies.map((body) => call(session.engine, { ":path": METHOD }, body)));
    expect(answers.map(({ status, bytes }, index) => [status, bytes.equals(bodies[index]!)])).toEqual([
      ["0", true],
      ["0", true],
      ["0", true],
    ]);
    session.engine.destroy();
  });

  test("keeps messages apart, for any chunks and concurrent senders", async () => {
    const seen: string[] = [];
    const handler: CallHandler = async (given) => {
      for await (const each of given.messages()) seen.push(Buffer.from(each).toString());
      const letters = Array.from("abcd", (letter) => Buffer.from(letter.repeat(50_000)));
      await Promise.all(letters.map((letter) => given.send(letter, Buffer.from("!"))));
    };
    using session = await openSession(handler, raw(CALL, windowUpdate(0, 10 ** 6), windowUpdate(1, 10 ** 6)));
    const { engine } = session;
    for (const byte of Buffer.concat([message("first"), message(""), message("third")]))
      engine.write(frame(FRAME.data, 1, Uint8Array.of(byte)));
    engine.write(frame(FRAME.data, 1, undefined, FLAG.endStream));
    await engine.until(() => engine.frames.some(({ flags, type }) => type === FRAME.headers && flags % 2 === 1));
    expect(seen).toEqual(["first", "", "third"]);
    const sent = engine
      .data(1)
      .toString("latin1")
      .match(/([a-d])\1+!/g);
    expect(sent?.map(({ length }) => length)).toEqual([50_001, 50_001, 50_001, 50_001]);
  });

  test("takes thousands of headers, in pieces, with padding and priorities", async () => {
    const seen = Promise.withResolvers<CallMetadata>();
    const paths = Array.from({ length: 3_000 }, (_, index) => `path, with commas/ä ${index}`);
    const block = callHeaders(
      METHOD,
      paths.map((path) => ["followpaths", path]),
    );
    const padded = Buffer.concat([Uint8Array.of(3), Buffer.alloc(5), block.subarray(0, 100), Buffer.alloc(3)]);
    const frames = [frame(FRAME.headers, 1, padded, FLAG.padded | FLAG.priority)];
    for (let at = 100; at < block.length; at += 16_000) {
      const flags = at + 16_000 >= block.length ? FLAG.endHeaders : 0;
      frames.push(frame(FRAME.continuation, 1, block.subarray(at, at + 16_000), flags));
    }
    using _ = await openSession(async (_call, metadata) => seen.resolve(metadata), raw(...frames));
    expect((await seen.promise).get("followpaths")).toEqual(paths);
  });

  test("sends no more than the engine has room for, and goes on when it has", async () => {
    const content = randomInput("the content of a call").bytes(120_000);
    const small = initialWindow(1_000);
    using session = await openSession(async (given) => given.send(content), raw(small, CALL));
    const { engine } = session;
    const received = () => engine.data(1).length;
    await engine.until(() => received() === 1_000);
    engine.write(windowUpdate(1, 119_000 + HEAD_BYTES));
    await engine.until(() => received() === 65_535);
    engine.write(windowUpdate(0, 1));
    await engine.until(() => received() === 65_536);
    engine.write(windowUpdate(0, 100_000));
    await engine.until(() => received() === content.length + HEAD_BYTES);
    expect(engine.data(1).subarray(HEAD_BYTES).equals(content)).toBe(true);
  });

  test("counts what a larger initial window grants to calls that had updates, and to later ones", async () => {
    const content = new Uint8Array(400_000);
    const handler: CallHandler = async (given) => {
      await given.send(content);
    };
    const large = [windowUpdate(0, 10 ** 7), CALL, windowUpdate(1, 100_000)];
    using session = await openSession(handler, raw(...large));
    const { engine } = session;
    await engine.until(() => engine.data(1).length === 165_535);
    engine.write(initialWindow(200_000));
    await engine.until(() => engine.data(1).length === 300_000);
    engine.write(initialWindow(300_000), frame(FRAME.headers, 3, callHeaders(METHOD), FLAG.endHeaders));
    await engine.until(() => engine.data(1).length === 400_000 && engine.data(3).length === 300_000);
    engine.write(windowUpdate(1, HEAD_BYTES), windowUpdate(3, 100_000 + HEAD_BYTES));
    await engine.until(() => [1, 3].every((id) => engine.data(id).length === content.length + HEAD_BYTES));
  });

  test("stops sending to a call that is reset or a connection that ends, and serves the others", async () => {
    const failures: unknown[] = [];
    const handler: CallHandler = async (given) => {
      const sent = given.send(new Uint8Array(10 ** 6));
      await sent.catch((error: unknown) => failures.push(error));
    };
    const other = frame(FRAME.headers, 3, callHeaders(METHOD), FLAG.endHeaders);
    using session = await openSession(handler, raw(CALL, other));
    const { engine } = session;
    await engine.until(() => engine.data(1).length + engine.data(3).length === 65_535);
    engine.write(frame(FRAME.reset, 1, Buffer.alloc(4)), windowUpdate(0, 10 ** 7), windowUpdate(3, 10 ** 7));
    await engine.until(() => engine.data(3).length === 10 ** 6 + HEAD_BYTES);
    engine.write(frame(FRAME.headers, 5, callHeaders(METHOD), FLAG.endHeaders), windowUpdate(5, 10));
    await engine.until(() => engine.data(5).length > 0);
    engine.close();
    await eventually(
      async () => failures,
      ({ length }) => length === 2,
    );
    expect(failures.map(String)).toEqual(Array.from({ length: 2 }, () => "Error: The stream is closed"));
  });

  test.each<[string, readonly Uint8Array[]]>([
    ["a frame that is too long", [Uint8Array.of(1, 0, 0, 0, 0, 0, 0, 0, 1)]],
    ["headers that go on where none began", [frame(FRAME.continuation, 1)]],
    ["data between headers", [frame(FRAME.headers, 1, callHeaders(METHOD)), frame(FRAME.data, 1)]],
    ["headers that cannot be read", [frame(FRAME.headers, 1, Uint8Array.of(0xff), FLAG.endHeaders)]],
    ["padding that is longer than its frame", [CALL, frame(FRAME.data, 1, Uint8Array.of(9, 1), FLAG.padded)]],
    ["an initial window that shrinks during a call", [CALL, initialWindow(1_000)]],
  ])("closes the connection after %s", async (_, frames) => {
    using session = await openSession(echo, raw(...frames));
    const { engine } = session;
    await engine.until(() => engine.isClosed);
  });
});
