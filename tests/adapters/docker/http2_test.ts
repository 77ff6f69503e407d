import { describe, expect, test } from "bun:test";
import { connect as connectHttp2, type ClientHttp2Session, type ClientHttp2Stream } from "node:http2";
import { connect, createServer, type Socket } from "node:net";
import { GrpcStream } from "../../../adapters/docker/build/http2/grpc_stream.ts";
import { type Header, HpackDecoder, hpackEncode } from "../../../adapters/docker/build/http2/hpack.ts";
import {
  dataFrames,
  FLAG,
  FRAME,
  type Frame,
  frame,
  FrameReader,
  windowUpdate,
} from "../../../adapters/docker/build/http2/http2_frames.ts";
import { Http2Server } from "../../../adapters/docker/build/http2/http2_server.ts";
import type { Http2Stream } from "../../../adapters/docker/build/http2/http2_stream.ts";
import { eventually } from "../../support/eventually.ts";
import { randomInput } from "../../support/inputs/random_input.ts";

const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
const REQUEST: readonly Header[] = [
  [":method", "POST"],
  [":scheme", "http"],
  [":path", "/x"],
];

const hex = (text: string) => Buffer.from(text.replaceAll(" ", ""), "hex");

/** A server that passes its streams to the test. */
async function serving(onStream: (stream: Http2Stream) => Promise<void>) {
  const failures: unknown[] = [];
  const handle = (stream: Http2Stream) => void onStream(stream).catch((error: unknown) => failures.push(error));
  const server = createServer((socket) => {
    socket.on("error", () => {});
    new Http2Server(socket, handle).begin(Buffer.alloc(0));
  });
  const listening = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", () => listening.resolve());
  await listening.promise;
  const { port } = server.address() as { port: number };
  return { port, failures, [Symbol.dispose]: () => void server.close() };
}

/** A client that sends raw frames, valid or not. */
class RawClient implements Disposable {
  readonly frames: Frame[] = [];
  readonly #socket: Socket;
  readonly #reader = new FrameReader();
  #news = Promise.withResolvers<void>();

  constructor(port: number) {
    this.#socket = connect(port, "127.0.0.1");
    // A server sends no connection preface, so the reader gets one here.
    this.frames.push(...this.#reader.read(PREFACE));
    this.#socket.on("data", (bytes: Buffer) => {
      this.frames.push(...this.#reader.read(bytes));
      this.#notify();
    });
    this.#socket.on("error", () => {});
    this.#socket.on("close", () => this.#notify());
    this.#socket.write(Buffer.concat([PREFACE, frame(FRAME.settings, 0)]));
  }

  get closed(): boolean {
    return this.#socket.destroyed;
  }

  write(...frames: readonly Uint8Array[]): void {
    this.#socket.write(Buffer.concat(frames));
  }

  async until(satisfies: () => boolean): Promise<void> {
    while (!satisfies()) await this.#news.promise;
  }

  data(): Buffer {
    return Buffer.concat(this.frames.filter(({ type }) => type === FRAME.data).map(({ payload }) => payload));
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }

  #notify(): void {
    this.#news.resolve();
    this.#news = Promise.withResolvers<void>();
  }
}

function request(stream: number, flags: number = FLAG.endHeaders): Buffer {
  return frame(FRAME.headers, stream, hpackEncode(REQUEST), flags);
}

/** A header field with incremental indexing. */
function remembered(name: string, value: string): Buffer {
  return Buffer.concat([Uint8Array.of(0x40), hpackEncode([[name, value]]).subarray(1)]);
}

/** A gRPC message. */
function message(text: string): Buffer {
  return Buffer.concat([Uint8Array.of(0, 0, 0, 0, text.length), Buffer.from(text)]);
}

describe("HpackDecoder", () => {
  test("reads the examples of RFC 7541, with and without compressed texts", () => {
    for (const blocks of [
      [
        "8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d",
        "8286 84be 5808 6e6f 2d63 6163 6865",
        "8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65",
      ],
      [
        "8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff",
        "8286 84be 5886 a8eb 1064 9cbf",
        "8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf",
      ],
    ]) {
      const decoder = new HpackDecoder();
      const decoded = blocks.map((block) => decoder.decode(hex(block)));
      expect(decoded).toEqual([
        [
          [":method", "GET"],
          [":scheme", "http"],
          [":path", "/"],
          [":authority", "www.example.com"],
        ],
        [
          [":method", "GET"],
          [":scheme", "http"],
          [":path", "/"],
          [":authority", "www.example.com"],
          ["cache-control", "no-cache"],
        ],
        [
          [":method", "GET"],
          [":scheme", "https"],
          [":path", "/index.html"],
          [":authority", "www.example.com"],
          ["custom-key", "custom-value"],
        ],
      ]);
    }
  });

  test("evicts entries that no longer fit its table", () => {
    const decoder = new HpackDecoder();
    decoder.decode(remembered("first", "1"));
    decoder.decode(remembered("long", "x".repeat(4_030)));
    expect(decoder.decode(Uint8Array.of(0xbe))).toEqual([["long", "x".repeat(4_030)]]);
    expect(() => decoder.decode(Uint8Array.of(0xbf))).toThrow(RangeError);
    expect(decoder.decode(Uint8Array.of(0x20))).toEqual([]);
    expect(() => decoder.decode(Uint8Array.of(0xbe))).toThrow(RangeError);
  });

  test.each([
    [[0x80]],
    [[0xff]],
    [[0x40, 5, 0x61]],
    [[0x00]],
    [[0x3f, 0xff, 0xff, 0xff, 0xff, 0xff]],
    [[0x00, 0x85, 0xff, 0xff, 0xff, 0xff, 0xff, 0x00]],
  ])("refuses %j", (bytes) => {
    expect(() => new HpackDecoder().decode(Uint8Array.from(bytes))).toThrow(RangeError);
  });

  test("reads what the encoder writes", () => {
    const headers: Header[] = [
      ["a", ""],
      ["grpc-message", "ä, ö"],
      ["long", "y".repeat(20_000)],
      ["n", "z".repeat(127)],
    ];
    expect(new HpackDecoder().decode(hpackEncode(headers))).toEqual(headers);
  });
});

describe("Http2Server", () => {
  test("answers an independent client: headers, data both ways, trailers", async () => {
    const seen: (readonly Header[])[] = [];
    using server = await serving(async (stream) => {
      seen.push(stream.headers);
      await stream.respond([
        [":status", "200"],
        ["content-type", "application/grpc"],
      ]);
      for (let data = await stream.read(); data !== undefined; data = await stream.read()) await stream.write(data);
      await stream.end([["grpc-status", "0"]]);
    });
    const client: ClientHttp2Session = connectHttp2(`http://127.0.0.1:${server.port}`);
    const content = Buffer.from("echo ".repeat(2_000));
    const many = Object.fromEntries(Array.from({ length: 90 }, (_, index) => [`x-header-${index}`, `value ${index}`]));
    const answers = await Promise.all(
      [1, 2, 3].map(async () => {
        const stream: ClientHttp2Stream = client.request({ ":method": "POST", ":path": "/x", ...many });
        const trailers = new Promise((resolve) => stream.on("trailers", resolve));
        stream.end(content);
        const chunks: Buffer[] = [];
        for await (const chunk of stream) chunks.push(chunk as Buffer);
        return [Buffer.concat(chunks).equals(content), await trailers];
      }),
    );
    client.close();
    expect(answers.map(([same, trailers]) => [same, (trailers as Record<string, string>)["grpc-status"]])).toEqual([
      [true, "0"],
      [true, "0"],
      [true, "0"],
    ]);
    expect(new Map(seen[0]).get("x-header-89")).toBe("value 89");
    expect(server.failures).toEqual([]);
  });

  test("sends no more than the window of the client allows, and continues when it grows", async () => {
    const content = randomInput("the content of a stream").bytes(60_000);
    using server = await serving(async (stream) => {
      await stream.write(content);
      await stream.write(content);
      await stream.end([]);
    });
    using client = new RawClient(server.port);
    const settings = Buffer.from([0, 4, 0, 0, 0x03, 0xe8]);
    client.write(frame(FRAME.settings, 0, settings), request(1));
    await client.until(() => client.data().length === 1_000);
    client.write(windowUpdate(1, 119_000));
    await client.until(() => client.data().length === 65_535);
    client.write(windowUpdate(0, 1));
    await client.until(() => client.data().length === 65_536);
    client.write(windowUpdate(0, 100_000));
    await client.until(() => client.frames.at(-1)?.type === FRAME.headers);
    expect(client.data().equals(Buffer.concat([content, content]))).toBe(true);
    expect(
      client.frames.filter(({ type }) => type === FRAME.data).every(({ payload }) => payload.length <= 16_384),
    ).toBe(true);
  });

  test("accepts a window that shrinks while it is in use", async () => {
    using server = await serving(async (stream) => {
      await stream.write(new Uint8Array(70_000));
      await stream.end([]);
    });
    using client = new RawClient(server.port);
    client.write(request(1), windowUpdate(0, 1_000_000));
    await client.until(() => client.data().length === 65_535);
    client.write(
      frame(FRAME.settings, 0, Buffer.from([0, 4, 0, 0, 0, 0])),
      windowUpdate(1, 65_535),
      windowUpdate(1, 4_465),
    );
    await client.until(() => client.frames.at(-1)?.type === FRAME.headers);
    expect(client.data().length).toBe(70_000);
  });

  test("accepts headers in pieces, with padding and priorities, and hundreds of them", async () => {
    const seen = Promise.withResolvers<readonly Header[]>();
    using server = await serving(async (stream) => seen.resolve(stream.headers));
    using client = new RawClient(server.port);
    const headers: Header[] = Array.from({ length: 3_000 }, (_, index) => [
      "followpaths",
      `path, with commas/ä ${index}`,
    ]);
    const block = hpackEncode([...REQUEST, ...headers]);
    const padded = Buffer.concat([Uint8Array.of(3), Buffer.alloc(5), block.subarray(0, 100), Buffer.alloc(3)]);
    client.write(frame(FRAME.headers, 1, padded, FLAG.padded | FLAG.priority));
    for (let at = 100; at < block.length; at += 16_000) {
      const isLast = at + 16_000 >= block.length;
      client.write(frame(FRAME.continuation, 1, block.subarray(at, at + 16_000), isLast ? FLAG.endHeaders : 0));
    }
    expect(await seen.promise).toEqual([...REQUEST, ...headers]);
  });

  test("answers pings and settings, and ignores unknown frames", async () => {
    using server = await serving(async (stream) => stream.end([]));
    using client = new RawClient(server.port);
    client.write(frame(0x63, 0, Buffer.from("unknown")), frame(FRAME.ping, 0, Buffer.from("12345678")), request(1));
    await client.until(() => client.frames.some(({ type }) => type === FRAME.headers));
    const ping = client.frames.find(({ type }) => type === FRAME.ping);
    expect([ping?.flags, ping?.payload.toString()]).toEqual([FLAG.ack, "12345678"]);
    expect(client.frames.filter(({ type, flags }) => type === FRAME.settings && flags === FLAG.ack)).toHaveLength(1);
  });

  test("stops sending to a stream that is reset or a connection that ends, and serves the others", async () => {
    using server = await serving(async (stream) => {
      await stream.write(new Uint8Array(10 ** 6));
    });
    using client = new RawClient(server.port);
    client.write(request(1), request(3));
    await client.until(() => client.data().length === 65_535);
    client.write(frame(FRAME.reset, 1, Buffer.alloc(4)), windowUpdate(0, 10 ** 7), windowUpdate(3, 10 ** 7));
    await client.until(() => client.data().length >= 10 ** 6);
    client.write(request(5), windowUpdate(5, 10));
    await client.until(() => client.frames.some(({ stream }) => stream === 5));
    client[Symbol.dispose]();
    const failures = await eventually(
      async () => server.failures,
      ({ length }) => length >= 2,
    );
    expect(failures.map(String)).toEqual(Array.from({ length: 2 }, () => "Error: The stream is closed"));
  });

  test.each<[string, Uint8Array]>([
    ["an HTTP/1.1 request", Buffer.from("GET / HTTP/1.1\r\n\r\n")],
    ["a frame that is too long", Buffer.concat([PREFACE, Uint8Array.of(1, 0, 0, 0, 0, 0, 0, 0, 1)])],
    ["a continuation without headers", Buffer.concat([PREFACE, frame(FRAME.continuation, 1)])],
    ["data between headers", Buffer.concat([PREFACE, request(1, 0), frame(FRAME.data, 1)])],
    [
      "headers that cannot be read",
      Buffer.concat([PREFACE, frame(FRAME.headers, 1, Uint8Array.of(0xff), FLAG.endHeaders)]),
    ],
    [
      "padding that is longer than its frame",
      Buffer.concat([PREFACE, request(1), frame(FRAME.data, 1, Uint8Array.of(9, 1), FLAG.padded)]),
    ],
  ])("closes the connection after %s", async (_, bytes) => {
    using server = await serving(async () => {});
    const closed = Promise.withResolvers<void>();
    const socket = connect(server.port, "127.0.0.1");
    socket.on("error", () => {});
    socket.on("close", () => closed.resolve());
    socket.resume();
    socket.write(bytes);
    await closed.promise;
  });
});

describe("GrpcStream", () => {
  test("keeps messages apart when they arrive in pieces and are sent concurrently", async () => {
    const seen: string[] = [];
    using server = await serving(async (stream) => {
      const call = new GrpcStream(stream);
      for await (const given of call.messages()) seen.push(Buffer.from(given).toString());
      await Promise.all(
        Array.from("abcd", (letter) => call.send(Buffer.from(letter.repeat(50_000)), Buffer.from("!"))),
      );
      await call.end();
    });
    using client = new RawClient(server.port);
    const all = Buffer.concat([message("first"), message(""), message("third")]);
    client.write(request(1), windowUpdate(0, 10 ** 6), windowUpdate(1, 10 ** 6));
    for (const byte of all) client.write(dataFrames(1, Uint8Array.of(byte), 1));
    client.write(frame(FRAME.data, 1, undefined, FLAG.endStream));
    await client.until(() => client.frames.filter(({ type }) => type === FRAME.headers).length === 2);
    expect(seen).toEqual(["first", "", "third"]);
    const sent = client
      .data()
      .toString("latin1")
      .match(/([a-d])\1+!/g);
    expect(sent?.map((text) => text.length)).toEqual([50_001, 50_001, 50_001, 50_001]);
    const [head, trailers] = client.frames.filter(({ type }) => type === FRAME.headers);
    expect(new HpackDecoder().decode(head!.payload)).toContainEqual(["content-type", "application/grpc"]);
    expect(new HpackDecoder().decode(trailers!.payload)).toContainEqual(["grpc-status", "0"]);
  });
});
