import { afterAll, beforeAll, expect, test } from "bun:test";
import { connect } from "node:net";
import { type Listener, listen } from "../../wiring/listen.ts";
import { memoryApp, type TestApp } from "../support/apps/app.ts";
import { eventually } from "../support/eventually.ts";
import { file, tarGz } from "../support/inputs/tar_archive.ts";

let app: TestApp;
let listener: Listener;

beforeAll(async () => {
  app = await memoryApp();
  listener = listen({ host: "127.0.0.1", port: 0 });
  listener.serve(app.handle);
});

afterAll(() => listener.stop(0));

/** Writes raw bytes to the listener and reads the whole response. */
function exchange(text: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const socket = connect(listener.port, "127.0.0.1", () => socket.end(text));
  let heard = "";
  socket.on("data", (data) => (heard += data.toString()));
  socket.on("close", () => resolve(heard));
  socket.on("error", reject);
  return promise;
}

const get = (target: string, host = "slipway.test") =>
  exchange(`GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);

test.each(["a", "api", "localhost", "slipway.test:4400", "[::1]:4400", "a, b", "a/b?c", "user@a", "a b", "a#", ""])(
  "Host: %p leads to the route of the path",
  async (host) => {
    expect(await get("/api/health", host)).toStartWith("HTTP/1.1 200 ");
    expect(await get("/api/projects?page=0", host)).toStartWith("HTTP/1.1 401 ");
    expect(await get("/x/api/health", host)).toStartWith("HTTP/1.1 404 ");
    expect(await get("/metrics/api/health", host)).toStartWith("HTTP/1.1 404 ");
    for (const path of ["/api/projects/..", "/api/projects/x\\..\\..", "/api/projects/%2e%2e/", "//api/projects"]) {
      expect(await get(path, host)).toMatch(/^HTTP\/1\.1 40[14] /);
    }
  },
);

test.each([
  ["http://other.example/api/health", 200],
  ["http://other.example/api/projects", 401],
  ["/api/health?a=b#c", 200],
  ["/api/health#c", 404],
  ["/a/../api/health", 200],
  ["/api/health/../projects", 401],
  ["//api/health", 404],
  ["/api/projects/%zz", 404],
  ["/api/%68ealth", 404],
  ["/api/health%00", 404],
  [`/${"a".repeat(8_000)}`, 404],
])("the target %p answers %d", async (target, status) => {
  expect(await get(target)).toStartWith(`HTTP/1.1 ${status} `);
});

test.each(["", "Host: a\r\n"])("HTTP/1.0 with %p leads to the route of the path", async (host) => {
  expect(await exchange(`GET /api/health HTTP/1.0\r\n${host}\r\n`)).toStartWith("HTTP/1.1 200 ");
  expect(await exchange(`GET /api/projects?page=1 HTTP/1.0\r\n${host}\r\n`)).toStartWith("HTTP/1.1 401 ");
});

test("a chunked body is read like any other, and no part of it is parsed as a second request", async () => {
  const token = `Authorization: Bearer ${app.owner}\r\n`;
  const head = `POST /api/projects HTTP/1.1\r\nHost: a\r\n${token}Content-Type: application/json\r\nConnection: close\r\n`;
  const whole = await exchange(`${head}Transfer-Encoding: chunked\r\n\r\n7\r\n{"name"\r\n9\r\n:"Piece"}\r\n0\r\n\r\n`);
  expect(whole).toStartWith("HTTP/1.1 201 ");
  const inner = `DELETE /api/cloud/link HTTP/1.1\r\nHost: a\r\n${token}\r\n`;
  const both = `${head}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${inner}`;
  expect((await exchange(both)).match(/HTTP\/1\.1 2\d\d/g)).toBeNull();
  expect(app.world.log.lines.some(({ text }) => text.includes("/api/cloud/link"))).toBe(false);
});

test("an upload whose client disconnects leaves its session open for a retry", async () => {
  const { sessionId } = (await app.call("POST", "/api/projects/folder/session", { token: app.owner, body: {} })).body;
  const path = `/api/projects/folder/upload/${sessionId}`;
  const head = `POST ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${app.owner}\r\nContent-Length: 5000\r\n\r\n`;
  const codeOfAnother = async () => (await app.call("POST", path, { token: app.owner, raw: "x" })).body.code;
  const socket = connect(listener.port, "127.0.0.1", () => {
    socket.write(head);
    socket.write(tarGz([file("index.html")]).subarray(0, 30));
  });
  expect(await eventually(codeOfAnother, (code) => code === "upload_running")).toBe("upload_running");
  socket.destroy();
  expect(await eventually(codeOfAnother, (code) => code !== "upload_running")).toBe("archive_not_gzip");
  expect(app.world.log.lines.filter(({ level }) => level === "error")).toEqual([]);
});
