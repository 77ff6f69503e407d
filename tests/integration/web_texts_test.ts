import { describe, expect, test } from "bun:test";
import { MemoryWebTexts } from "../../adapters/memory/web_texts.ts";
import { SocketWebTexts } from "../../adapters/probe/socket_web_texts.ts";
import { webTextsContract } from "../contracts/web_texts.ts";
import { rawApp } from "../support/servers/raw_http.ts";
import { testPort } from "../support/servers/test_port.ts";

webTextsContract("memory", async () => {
  const webTexts = new MemoryWebTexts();
  return {
    webTexts,
    serve: async (answer) => webTexts.serve("127.0.0.1", answer),
    async [Symbol.asyncDispose]() {},
  };
});

webTextsContract("sockets", async () => {
  const lifetime = new AsyncDisposableStack();
  const { port } = lifetime.use(testPort());
  return {
    webTexts: new SocketWebTexts({ port }),
    async serve(answer) {
      const server = Bun.serve({
        hostname: "127.0.0.1",
        port,
        fetch(request) {
          const { hostname, pathname } = new URL(request.url);
          const text = answer(hostname, pathname);
          return text === undefined ? new Response("None", { status: 404 }) : new Response(text);
        },
      });
      lifetime.defer(() => server.stop(true));
    },
    [Symbol.asyncDispose]: () => lifetime.disposeAsync(),
  };
});

const REQUEST = { address: "127.0.0.1", hostname: "www.example.test", path: "/text" };

describe("SocketWebTexts", () => {
  test("follows no redirect", async () => {
    using server = rawApp((text) =>
      text.includes("\r\n\r\n")
        ? "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1/x\r\nContent-Length: 0\r\n\r\n"
        : undefined,
    );
    const answer = await new SocketWebTexts({ port: server.port }).read(REQUEST);
    expect(answer).toEqual({ kind: "answered", status: 302, text: "" });
    expect([server.connections, server.received[0]]).toEqual([
      1,
      "GET /text HTTP/1.0\r\nHost: www.example.test\r\nAccept: */*\r\n\r\n",
    ]);
  });

  test.each([
    ["stays silent", () => undefined],
    ["does not speak HTTP", () => "220 mail.example.test ESMTP\r\n"],
    ["hangs up", () => "close" as const],
    ["resets the connection", () => "reset" as const],
    ["never ends its head", () => `HTTP/1.1 200 OK\r\nX: ${"x".repeat(20_000)}`],
  ])("counts a server that %s as unreachable", async (_, answer) => {
    using server = rawApp(answer);
    const webTexts = new SocketWebTexts({ port: server.port, timeoutMs: 1_000 });
    expect(await webTexts.read(REQUEST)).toEqual({ kind: "unreachable" });
  });
});
