import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EngineApi, EngineRefusal } from "../../../adapters/docker/engine/engine_api.ts";

/** A fake engine that supports only some API versions and refuses the others as Docker does. */
async function engineSince(oldest: number, newest = 10_000) {
  const folder = await mkdtemp(join(tmpdir(), "slipway-"));
  const socket = join(folder, "engine.sock");
  const requests: string[] = [];
  const server = Bun.serve({
    unix: socket,
    fetch(request) {
      const { pathname } = new URL(request.url);
      requests.push(`${request.method} ${pathname}`);
      const version = /^\/v1\.(\d+)\//.exec(pathname)?.[1] ?? "";
      if (Number(version) > newest) {
        const why = `client version 1.${version} is too new. Maximum supported API version is 1.${newest}`;
        return Response.json({ message: why }, { status: 400 });
      }
      if (Number(version) >= oldest) return Response.json({ pathname });
      const message = `client version 1.${version} is too old. Minimum supported API version is 1.${oldest}, please upgrade your client to a newer version`;
      return Response.json({ message }, { status: 400 });
    },
  });
  const dispose = async () => {
    await server.stop(true);
    await rm(folder, { recursive: true });
  };
  return { engine: new EngineApi(`unix://${socket}`), requests, [Symbol.asyncDispose]: dispose };
}

test("request() uses the oldest version that the engine supports, once it was refused", async () => {
  await using since = await engineSince(44);
  const { engine, requests } = since;
  await engine.request("GET", "/info");
  await engine.request("POST", "/containers/create", { json: {} });
  expect(requests).toEqual(["GET /v1.41/info", "GET /v1.44/info", "POST /v1.44/containers/create"]);
  expect(engine.path("/session")).toBe("/v1.44/session");
});

test("request() uses an old version where the engine allows it", async () => {
  await using since = await engineSince(12);
  await since.engine.request("GET", "/info");
  expect(since.requests).toEqual(["GET /v1.41/info"]);
});

test("request() passes on the refusal of an engine that wants an unknown version", async () => {
  await using since = await engineSince(1_000);
  expect(await since.engine.request("GET", "/info").catch((error: unknown) => error)).toBeInstanceOf(EngineRefusal);
});

test.each([
  [12, 41, ["GET /v1.42/system/df", "GET /v1.41/system/df"]],
  [12, 45, ["GET /v1.42/system/df"]],
  [44, 52, ["GET /v1.42/system/df", "GET /v1.44/system/df"]],
])("request() to an engine of 1.%d to 1.%d uses the required version where it is supported", async (...given) => {
  const [oldest, newest, expected] = given;
  await using since = await engineSince(oldest, newest);
  await since.engine.request("GET", "/system/df", { since: "1.42" });
  expect(since.requests).toEqual(expected);
});
