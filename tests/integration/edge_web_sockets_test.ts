import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { ServerWebSocket } from "bun";
import { eventually } from "../support/eventually.ts";
import { randomInput } from "../support/inputs/random_input.ts";
import { rawApp, rawConnection } from "../support/servers/raw_http.ts";
import { at, runningEdge, type RunningEdge } from "../support/servers/running_edge.ts";

const UPGRADE =
  "GET /live HTTP/1.1\r\nHost: a.test\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" +
  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: chat, other\r\n\r\n";

interface Closed {
  readonly code: number;
  readonly reason: string;
}

let edge: RunningEdge;
let app: ReturnType<typeof echoApp>;
beforeEach(async () => {
  edge = runningEdge();
  app = echoApp();
  await edge.put("a.test", at(app.port), "dep_1");
});
afterEach(async () => {
  await edge[Symbol.asyncDispose]();
  await app.stop();
});

/** Echoes every message; "close me" closes with 4001. */
function echoApp() {
  const closes: Closed[] = [];
  const sockets = new Set<ServerWebSocket>();
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request, bun) {
      if (new URL(request.url).pathname === "/refused") return new Response("not here", { status: 403 });
      const protocol = request.headers.get("sec-websocket-protocol")?.split(", ")[1];
      const headers = protocol === undefined ? {} : { "sec-websocket-protocol": protocol };
      return bun.upgrade(request, { headers }) ? undefined : new Response("no WebSocket", { status: 400 });
    },
    websocket: {
      maxPayloadLength: 64_000_000,
      perMessageDeflate: true,
      open: (socket) => void sockets.add(socket),
      message: (socket, message) =>
        void (message === "close me" ? socket.close(4001, "as requested") : socket.send(message)),
      close(socket, code, reason) {
        sockets.delete(socket);
        closes.push({ code, reason });
      },
    },
  });
  return { port: server.port, closes, sockets, stop: () => server.stop(true) };
}

async function open(path = "/live", protocols: string[] = []) {
  const socket = new WebSocket(`ws://127.0.0.1:${edge.port}${path}`, { headers: { host: "a.test" }, protocols });
  socket.binaryType = "arraybuffer";
  const opened = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<Closed>();
  const messages: (string | ArrayBuffer)[] = [];
  socket.addEventListener("open", () => opened.resolve());
  socket.addEventListener("error", () => opened.reject(new Error("the WebSocket was refused")));
  socket.addEventListener("close", ({ code, reason }) => closed.resolve({ code, reason }));
  socket.addEventListener("message", ({ data }) => void messages.push(data));
  await opened.promise;
  const received = (count: number) =>
    eventually(
      async () => messages,
      (all) => all.length >= count,
    );
  return { socket, closed: closed.promise, received };
}

describe("EdgeServer proxies WebSockets", () => {
  test("with text and binary messages of any size, in order, both ways", async () => {
    const { socket, received } = await open();
    const large = randomInput("a large message").bytes(5_000_000);
    const sent = ["", "hello", "ünï©ode", new Uint8Array(0), large, "x".repeat(70_000), "end"];
    for (const message of sent) socket.send(message);
    const back = await received(sent.length);
    expect(back.map((message) => (typeof message === "string" ? message : Bun.hash(message)))).toEqual(
      sent.map((message) => (typeof message === "string" ? message : Bun.hash(message))),
    );
    socket.close();
  });

  test("with the subprotocol that the app chose", async () => {
    const { socket } = await open("/live", ["chat", "other"]);
    expect(socket.protocol).toBe("other");
    socket.close();
  });

  test("with the codes and reasons that either side closes with", async () => {
    const byClient = await open();
    byClient.socket.close(4000, "had enough");
    await byClient.closed;
    expect(
      await eventually(
        async () => app.closes,
        (closes) => closes.length > 0,
      ),
    ).toEqual([{ code: 4000, reason: "had enough" }]);
    const byApp = await open();
    byApp.socket.send("close me");
    expect(await byApp.closed).toEqual({ code: 4001, reason: "as requested" });
  });

  test("as bytes, including those that arrive with the handshake", async () => {
    const agreement =
      "HTTP/1.1 101 Switching Protocols\r\nSec-WebSocket-Accept: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
    using raw = rawApp((received) => (received.includes("\r\n\r\n") ? `${agreement}\x81\x02hi` : undefined));
    await edge.put("a.test", at(raw.port));
    using client = await rawConnection(edge.port, `${UPGRADE}\x81\x82abcdxy`);
    expect(await client.until(/hi$/)).toBe(
      "HTTP/1.1 101 Switching Protocols\r\nSec-WebSocket-Accept: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n\x81\x02hi",
    );
    await eventually(
      async () => raw.received[0],
      (received) => received?.endsWith("xy") === true,
    );
    expect(raw.received[0]).toMatch(/\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n\x81\x82abcdxy$/);
    expect(raw.received[0]).toContain("Sec-WebSocket-Protocol: chat, other\r\n");
  });

  test("and an app's refusal as its response", async () => {
    using client = await rawConnection(edge.port, UPGRADE.replace("/live", "/refused"));
    expect(await client.until(/not here$/)).toStartWith("HTTP/1.1 403 Forbidden\r\n");
    client.write("GET /refused HTTP/1.1\r\nHost: a.test\r\n\r\n");
    await client.until(/not here[^]*not here$/);
  });

  test("no faster than either side reads", async () => {
    const { socket } = await open();
    const [server] = app.sockets;
    using client = await rawConnection(edge.port, UPGRADE);
    await client.until(/\r\n\r\n/);
    client.socket.pause();
    const second = [...app.sockets].find((one) => one !== server)!;
    const piece = new Uint8Array(100_000);
    let sent = 0;
    for (; sent < 500 && second.send(piece) > 0; sent++) await Bun.sleep(0);
    expect(sent).toBeLessThan(500);
    socket.close();
  });
});

describe("EdgeServer ends WebSockets", () => {
  test("with 1001 on both sides after the limit of drained(), and not before", async () => {
    const { socket, closed, received } = await open();
    await edge.put("a.test", { kind: "none" }, "dep_2");
    const draining = edge.edge.drained("dep_1", 300);
    socket.send("still there");
    expect(await received(1)).toEqual(["still there"]);
    await draining;
    expect(await closed).toMatchObject({ code: 1001 });
    expect(
      await eventually(
        async () => app.closes,
        (closes) => closes.length > 0,
      ),
    ).toMatchObject([{ code: 1001 }]);
    await edge.edge.drained("dep_1", 60_000);
  });

  test("between two frames, even if one was sent in part", async () => {
    const agreement = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
    let second: (() => void) | undefined;
    const half = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        data(socket) {
          if (second) return;
          second = () => socket.write(Buffer.from("lo\x81\x02no", "latin1"));
          socket.write(Buffer.from(`${agreement}\x81\x05hel`, "latin1"));
        },
      },
    });
    await edge.put("a.test", at(half.port), "dep_3");
    using client = await rawConnection(edge.port, UPGRADE);
    await client.until(/hel$/);
    await edge.edge.drained("dep_3", 10);
    second?.();
    expect(await client.until(/hello.+$/)).toEndWith("\x81\x05hello\x88\x02\x03\xe9");
    half.stop(true);
  });

  test("drained() resolves when the last one closes", async () => {
    const { socket, closed } = await open();
    const draining = edge.edge.drained("dep_1", 60_000);
    socket.close();
    await closed;
    await draining;
  });

  test("with 1001 when it stops", async () => {
    const { closed } = await open();
    await edge.edge.stop(10_000);
    expect(await closed).toMatchObject({ code: 1001 });
  });

  test("when the app is gone", async () => {
    const { closed } = await open();
    await app.stop();
    expect((await closed).code).toBeOneOf([1001, 1006]);
  });
});
