import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Listener, listen } from "../../wiring/listen.ts";
import { memoryApp, type TestApp } from "../support/apps/app.ts";
import { OpenRequest, type RequestHead } from "../support/servers/http_client.ts";
import { randomInput } from "../support/inputs/random_input.ts";
import { file, tarGz } from "../support/inputs/tar_archive.ts";

const LIMIT = 20_000;
const NOISE = tarGz([file("noise", randomInput("body limits").bytes(3 * LIMIT))]);

let app: TestApp;
let listener: Listener;

beforeAll(async () => {
  app = await memoryApp({ uploadMaxBytes: LIMIT });
  listener = listen({ host: "127.0.0.1", port: 0 });
  listener.serve(app.handle);
});

afterAll(() => listener.stop(0));

/** A keep-alive request: with `Connection: close`, the server drains the body for a moment before it responds. */
function open({ headers = {}, ...head }: Omit<RequestHead, "token">, token = app.owner): Promise<OpenRequest> {
  const address = `http://127.0.0.1:${listener.port}`;
  return OpenRequest.open(address, { token, ...head, headers: { connection: "keep-alive", ...headers } });
}

async function uploadPath(): Promise<string> {
  const { body } = await app.call("POST", "/api/projects/folder/session", { token: app.owner, body: {} });
  return `/api/projects/folder/upload/${body.sessionId}`;
}

test.each([LIMIT + 1, LIMIT + 2, 2 ** 31, 2 ** 40])(
  "an upload that announces %d bytes is answered at once, with the limit",
  async (length) => {
    using request = await open({ path: await uploadPath(), length });
    const { status, body } = await request.answer();
    expect([status, body.code]).toEqual([413, "upload_too_large"]);
    expect(body.error).toContain(String(LIMIT));
  },
);

test.each([
  ["announced", { length: NOISE.length }],
  ["chunked", {}],
])("an upload that exceeds the limit, %s, is answered with the limit", async (_, announced) => {
  using request = await open({ path: await uploadPath(), ...announced });
  await request.write(NOISE);
  await request.finish();
  const { status, body } = await request.answer();
  expect([status, body.code]).toEqual([413, "upload_too_large"]);
  expect(body.error).toContain(String(LIMIT));
});

test("a JSON body beyond the limit is answered at once when announced, and while it arrives when not", async () => {
  const headers = { "content-type": "application/json" };
  using announced = await open({ path: "/api/projects", length: 2 ** 31, headers });
  using chunked = await open({ path: "/api/projects", headers });
  await chunked.write(new Uint8Array(1_048_577).fill(0x20));
  for (const { status, body } of [await announced.answer(), await chunked.answer()]) {
    expect([status, body.code]).toEqual([413, "body_too_large"]);
    expect(body.error).toContain("1048576");
  }
});

test("the body of a refused request is not waited for", async () => {
  for (const [path, token, status] of [
    ["/api/projects", "slp_unknown", 401],
    [await uploadPath(), "slp_unknown", 401],
    ["/api/nothing", app.owner, 404],
    ["/api/health", app.owner, 405],
  ] as const) {
    using request = await open({ path, length: 2 ** 40 }, token);
    expect([path, (await request.answer()).status]).toEqual([path, status]);
  }
});
