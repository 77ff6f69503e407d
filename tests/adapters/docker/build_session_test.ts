import { expect, test } from "bun:test";
import { type ClientHttp2Session, connect as connectHttp2, type OutgoingHttpHeaders } from "node:http2";
import { createServer, type Socket } from "node:net";
import { BuildSession } from "../../../adapters/docker/build/build_session.ts";
import { EngineApi } from "../../../adapters/docker/engine/engine_api.ts";

const HEALTH = "/grpc.health.v1.Health/Check";

/** A fake engine that accepts one session and calls its methods. */
async function engineWithSession() {
  const { promise: session, resolve } = Promise.withResolvers<ClientHttp2Session>();
  const server = createServer((socket: Socket) => {
    socket.on("error", () => {});
    socket.once("data", () => {
      socket.write("HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n");
      resolve(connectHttp2("http://localhost", { createConnection: () => socket }));
    });
  });
  const listening = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", () => listening.resolve());
  await listening.promise;
  const { port } = server.address() as { port: number };
  return { host: `tcp://127.0.0.1:${port}`, session, [Symbol.dispose]: () => void server.close() };
}

/** Calls a method; resolves to its gRPC status. */
function call(session: ClientHttp2Session, headers: OutgoingHttpHeaders): Promise<string> {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ":method": "POST", ":path": HEALTH, ...headers });
    stream.on("trailers", (trailers) => resolve(`${trailers["grpc-status"]}`));
    stream.on("error", reject);
    stream.resume();
    stream.end();
  });
}

test("BuildSession fails a call with malformed metadata, and answers the next", async () => {
  using engine = await engineWithSession();
  using _ = await BuildSession.open(new EngineApi(engine.host), {}, "key");
  const session = await engine.session;
  expect(await call(session, { include: "%E0%A4%A", "include-encoded": "1" })).toBe("2");
  expect(await call(session, { include: "a%20b", "include-encoded": "1" })).toBe("0");
  expect(await call(session, { ":path": "/no.such/Method" })).toBe("12");
  session.destroy();
});
