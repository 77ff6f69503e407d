import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Socket } from "bun";
import { eventually } from "../support/eventually.ts";
import { randomInput } from "../support/inputs/random_input.ts";
import { memoryGrowth } from "../support/memory_growth.ts";
import { rawApp, rawTlsConnection } from "../support/servers/raw_http.ts";
import { at, type RunningEdge, runningTlsEdge } from "../support/servers/running_edge.ts";

const GET = "GET /file HTTP/1.1\r\nHost: a.test\r\n\r\n";
/** More than all kernel buffers on the path hold together. */
const FLOOD_BYTES = 100_000_000;
const LARGE_BYTES = 40_000_000;

let edge: RunningEdge;
let tlsPort: number;
beforeEach(async () => {
  edge = await runningTlsEdge();
  ({ tlsPort } = edge.edge);
});
afterEach(() => edge[Symbol.asyncDispose]());

function askTls(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { host: "a.test", ...(init.headers as Record<string, string>) };
  return fetch(`https://127.0.0.1:${tlsPort}${path}`, { ...init, headers, tls: { rejectUnauthorized: false } });
}

function serve(fetch: (request: Request) => Response | Promise<Response>) {
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, idleTimeout: 0, maxRequestBodySize: 1e10, fetch });
  return { port: server.port, [Symbol.asyncDispose]: () => server.stop(true) };
}

/** The value once it stops changing. */
async function stalls(ask: () => number): Promise<number> {
  let before = -1;
  return eventually(
    async () => {
      await Bun.sleep(200);
      return ask();
    },
    (value) => {
      const same = value > 0 && value === before;
      before = value;
      return same;
    },
  );
}

/** An app that sends a response of the flood's size as fast as it is taken, and says how much that was. */
function floodingApp() {
  let sent = 0;
  const head = Buffer.from(`HTTP/1.1 200 OK\r\nContent-Length: ${FLOOD_BYTES}\r\n\r\n`);
  const piece = Buffer.alloc(100_000);
  const pump = (socket: Socket) => {
    for (let taken = piece.length; taken === piece.length && sent < FLOOD_BYTES; sent += taken)
      taken = Math.max(0, socket.write(piece));
  };
  const data = (socket: Socket) => {
    socket.write(head);
    pump(socket);
  };
  const listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data, drain: pump } });
  return { port: listener.port, sent: () => sent, [Symbol.dispose]: () => listener.stop(true) };
}

describe("EdgeServer streams over TLS", () => {
  test.each(["with a length", "in chunks"])("large bodies both ways at once, %s", async (framing) => {
    await using app = serve((request) => new Response(request.body));
    await edge.put("a.test", at(app.port));
    const bytes = randomInput("a large body over TLS").bytes(LARGE_BYTES);
    const body = framing === "in chunks" ? new Blob([bytes]).stream() : bytes;
    const answer = await askTls("/", { method: "POST", body });
    expect(Bun.hash(await answer.arrayBuffer())).toBe(Bun.hash(bytes));
  });

  test("a response no faster than the client reads it, with little memory", async () => {
    using app = floodingApp();
    await edge.put("a.test", at(app.port));
    const clients: Awaited<ReturnType<typeof rawTlsConnection>>[] = [];
    const grown = await memoryGrowth(async () => {
      const client = await rawTlsConnection(tlsPort, "a.test");
      clients.push(client);
      client.socket.pause();
      client.write(GET);
      const taken = await stalls(app.sent);
      expect(taken).toBeLessThan(FLOOD_BYTES / 2);
    });
    expect(grown).toBeLessThan(FLOOD_BYTES / 2);
    for (const client of clients) client[Symbol.dispose]();
  });

  test("all of a response that a client reads slowly", async () => {
    using app = floodingApp();
    await edge.put("a.test", at(app.port));
    using client = await rawTlsConnection(tlsPort, "a.test");
    let arrived = 0;
    client.socket.removeAllListeners("data");
    client.socket.on("data", (bytes) => {
      arrived += bytes.length;
      if (arrived % 7 === 0) {
        client.socket.pause();
        setTimeout(() => client.socket.resume(), 5);
      }
    });
    client.write(GET);
    await eventually(
      async () => arrived,
      (count) => count > FLOOD_BYTES,
    );
    expect(arrived).toBe(FLOOD_BYTES + `HTTP/1.1 200 OK\r\nContent-Length: ${FLOOD_BYTES}\r\n\r\n`.length);
  });

  test("a body no faster than the app reads it", async () => {
    const slow = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: { open: (socket) => socket.pause(), data() {} },
    });
    await edge.put("a.test", at(slow.port));
    const head = `POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: ${FLOOD_BYTES}\r\n\r\n`;
    using client = await rawTlsConnection(tlsPort, "a.test", { first: head });
    const piece = Buffer.alloc(100_000);
    let offered = 0;
    const pump = () => {
      do offered += piece.length;
      while (offered < FLOOD_BYTES && client.socket.write(piece));
    };
    client.socket.on("drain", pump);
    pump();
    const taken = await stalls(() => offered);
    expect(taken).toBeLessThan(FLOOD_BYTES / 2);
    slow.stop(true);
  });

  test("files unchanged, to a client that pauses", async () => {
    const folder = await mkdtemp(join(tmpdir(), "slipway-tls-"));
    const bytes = randomInput("a file over TLS").bytes(20_000_000);
    await writeFile(join(folder, "file"), bytes);
    await edge.put("a.test", { kind: "folder", path: folder });
    using client = await rawTlsConnection(tlsPort, "a.test");
    const hash = new Bun.CryptoHasher("sha256");
    let arrived = 0;
    let headBytes = 0;
    client.socket.removeAllListeners("data");
    client.socket.on("data", (part) => {
      const from = headBytes === 0 ? part.indexOf("\r\n\r\n") + 4 : 0;
      headBytes ||= from;
      hash.update(part.subarray(from));
      arrived += part.length - from;
      client.socket.pause();
      setTimeout(() => client.socket.resume(), arrived % 3);
    });
    client.write(GET);
    await eventually(
      async () => arrived,
      (count) => count >= bytes.length,
    );
    expect(hash.digest("hex")).toBe(new Bun.CryptoHasher("sha256").update(bytes).digest("hex"));
    await rm(folder, { recursive: true });
  });
});

describe("EdgeServer over TLS", () => {
  test("tells the app that the request was encrypted", async () => {
    await using app = serve((request) => Response.json(Object.fromEntries(request.headers)));
    await edge.put("a.test", at(app.port));
    expect(await (await askTls("/", { headers: { "x-forwarded-proto": "http" } })).json()).toMatchObject({
      "x-forwarded-proto": "https",
      forwarded: 'for=127.0.0.1;host="a.test";proto=https',
    });
  });

  test("answers pipelined requests in order, and keeps the connection", async () => {
    await using app = serve(async (request) => new Response(new URL(request.url).pathname));
    await edge.put("a.test", at(app.port));
    const requests = Array.from({ length: 50 }, (_, index) => `GET /${index} HTTP/1.1\r\nHost: a.test\r\n\r\n`);
    using client = await rawTlsConnection(tlsPort, "a.test", { first: requests.join("") });
    const bodies = (await client.until(/\/49$/)).match(/\r\n\r\n\/\d+/g)?.map((body) => body.trim());
    expect(bodies).toEqual(requests.map((_, index) => `/${index}`));
    client.write("GET /more HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n");
    expect(await client.closed).toEndWith("/more");
  });

  test("does not end an incomplete response as if it were complete", async () => {
    using app = rawApp((received, connection) =>
      received.includes("\r\n\r\n") ? (connection === 0 ? "HTTP/1.1 200 OK\r\n\r\nbegun" : "close") : undefined,
    );
    await edge.put("a.test", at(app.port));
    using client = await rawTlsConnection(tlsPort, "a.test", { first: GET });
    const failed = new Promise<Error>((resolve) => client.socket.on("error", resolve));
    await client.until(/begun$/);
    await edge.edge.stop(0);
    expect(await failed).toMatchObject({ code: "ECONNRESET" });
  });

  test("ends the request to the app when the client disconnects", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    await using app = serve((request) => {
      request.signal.addEventListener("abort", () => resolve());
      return new Promise<Response>(() => {});
    });
    await edge.put("a.test", at(app.port), "dep_1");
    const client = await rawTlsConnection(tlsPort, "a.test", { first: GET });
    await eventually(
      async () => client.socket.writableLength,
      (length) => length === 0,
    );
    await Bun.sleep(100);
    client[Symbol.dispose]();
    await promise;
    await edge.edge.drained("dep_1", 60_000);
  });

  test("proxies WebSockets, and ends them with 1001 when it stops", async () => {
    await using app = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: (request, server) => (server.upgrade(request) ? undefined : new Response("no WebSocket")),
      websocket: { maxPayloadLength: 64_000_000, message: (socket, message) => void socket.send(message) },
    });
    await edge.put("a.test", at(app.port));
    const options = { headers: { host: "a.test" }, tls: { rejectUnauthorized: false } };
    const socket = new WebSocket(`wss://127.0.0.1:${tlsPort}/live`, options);
    const messages: unknown[] = [];
    const closed = new Promise<number>((resolve) => socket.addEventListener("close", ({ code }) => resolve(code)));
    socket.addEventListener("message", ({ data }) => void messages.push(data));
    await new Promise((resolve) => socket.addEventListener("open", resolve));
    const sent = ["", "hello", "x".repeat(3_000_000), "end"];
    for (const message of sent) socket.send(message);
    await eventually(
      async () => messages.length,
      (count) => count === sent.length,
    );
    expect(messages).toEqual(sent);
    await edge.edge.stop(10_000);
    expect(await closed).toBe(1001);
  });
});
