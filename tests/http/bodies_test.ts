import { beforeAll, describe, expect, test } from "bun:test";
import { type Call, memoryApp, type TestApp } from "../support/apps/app.ts";
import { streamOf } from "../support/inputs/tar_archive.ts";

const JSON_TYPE = { "content-type": "application/json" };
const LIMIT = 1_048_576;
let app: TestApp;
let projectId: string;

beforeAll(async () => {
  app = await memoryApp();
  projectId = (await asOwner("POST", "/api/projects", { body: { name: "Harbour" } })).body.data.id;
});

const asOwner = (method: string, path: string, call: Call = {}) =>
  app.call(method, path, { token: app.owner, ...call });

const sent = (raw: NonNullable<Call["raw"]>, headers: Record<string, string> = JSON_TYPE) =>
  asOwner("POST", "/api/projects", { raw, headers });

describe("media types", () => {
  test.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/jsonx",
    "json",
    "application/json5",
    "",
    "text/json, application/json",
  ])("%p answers 415", async (type) => {
    const answer = await sent('{"name":"X"}', type ? { "content-type": type } : {});
    expect([answer.status, answer.body.code]).toEqual([415, "not_json"]);
  });

  test.each(["application/json", "Application/JSON; charset=utf-8", "application/merge-patch+json"])(
    "%p is JSON",
    async (type) => {
      expect((await sent("{}", { "content-type": type })).body.details).toEqual([
        { path: "name", message: "is required" },
      ]);
    },
  );

  test("an empty body counts as {}, with or without a type", async () => {
    for (const headers of [JSON_TYPE, {}, { "content-type": "text/plain" }]) {
      expect((await asOwner("PATCH", `/api/projects/${projectId}`, { raw: "", headers })).status).toBe(200);
    }
    expect((await asOwner("PATCH", `/api/projects/${projectId}`)).status).toBe(200);
  });
});

const bodyOf = (bytes: number) => `{"name":"${"x".repeat(bytes - 11)}"}`;

describe("sizes", () => {
  test("a body of exactly the limit is read, one of a byte more is not, announced or not", async () => {
    expect((await sent(bodyOf(LIMIT))).body.details[0].path).toBe("name");
    const announced = { ...JSON_TYPE, "content-length": String(LIMIT + 1) };
    for (const answer of [
      await sent(bodyOf(LIMIT + 1)),
      await sent(bodyOf(LIMIT + 1), announced),
      await sent(streamOf(new TextEncoder().encode(bodyOf(LIMIT + 1)))),
      await sent(streamOf(new Uint8Array(4 * LIMIT))),
    ]) {
      expect([answer.status, answer.body.code]).toEqual([413, "body_too_large"]);
    }
  });

  test("a body that is larger than announced is still bounded", async () => {
    const answer = await sent(streamOf(new Uint8Array(2 * LIMIT)), { ...JSON_TYPE, "content-length": "10" });
    expect(answer.status).toBe(413);
  });

  test("a body whose client disconnects is a 400, not a bug", async () => {
    const broken = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode('{"name":')),
      pull: (controller) => controller.error(new Error("connection reset")),
    });
    expect((await sent(broken)).body.code).toBe("unreadable_body");
  });
});

describe("JSON that is refused", () => {
  test.each([
    ["truncated JSON", '{"name":"x'],
    ["a closing brace too many", '{"name":"x"}}'],
    ["single quotes", "{'name':'x'}"],
    ["a comment", '{"name":"x"/* */}'],
    ["a trailing comma", '{"name":"x",}'],
    ["NaN", '{"name":NaN}'],
    ["white space alone", " \n"],
    ["a raw line break in a text", '{"name":"a\nb"}'],
    ["a field twice", '{"name":"a","name":"b"}'],
    ["a field twice, once escaped", '{"name":"a","\\u006eame":"b"}'],
    ["a field twice, deep inside", '{"name":"a","services":[{"name":"w","build":{"context":"a","context":"b"}}]}'],
    ["__proto__", '{"name":"a","__proto__":{"admin":true}}'],
    ["__proto__, escaped", '{"name":"a","__pr\\u006fto__":{"admin":true}}'],
    ["__proto__, deep inside", '{"name":"a","services":[{"name":"w","build":{"args":{"__proto__":"x"}}}]}'],
    ["nesting", `{"name":${"[".repeat(33)}${"]".repeat(33)}}`],
    ["extreme nesting", "[".repeat(500_000)],
    ["a NUL in a text", '{"name":"a\\u0000b"}'],
    ["half a surrogate pair", '{"name":"\\ud83d"}'],
    ["surrogates the wrong way round", '{"name":"\\ude00\\ud83d"}'],
    ["a NUL in a field's name", '{"name":"a","b\\u0000":1}'],
  ])("%s", async (_, raw) => {
    const answer = await sent(raw);
    expect([answer.status, answer.body.code]).toEqual([400, "unreadable_body"]);
  });

  test("text that is not UTF-8", async () => {
    for (const bytes of [
      [0x7b, 0xff, 0x7d],
      [0xc0, 0xaf],
      [0xed, 0xa0, 0x80],
      [0xfe, 0xff, 0, 0x7b, 0, 0x7d],
    ]) {
      expect((await sent(new Uint8Array(bytes))).body.code).toBe("unreadable_body");
    }
  });

  test.each(["null", "[]", "[{}]", '"name"', "1", "true", "0"])(
    "%s in place of an object, on every route that accepts one",
    async (raw) => {
      for (const { method, path, operation } of app.routes) {
        if (method === "GET" || operation.streams) continue;
        const filled = path.replace(":id", projectId).replace(":sessionId", "upl_00000000000000000000000000");
        const answer = await asOwner(method, filled, { raw, headers: JSON_TYPE });
        expect([method, path, answer.status]).toEqual([method, path, 400]);
        expect(answer.body.error).toContain("object");
      }
    },
  );

  test("none of it reaches any object's prototype", () => {
    expect(({} as { admin?: boolean }).admin).toBeUndefined();
  });
});

test("JSON with a byte order mark, or with complete escapes and surrogate pairs, is read", async () => {
  expect((await sent('\ufeff{"name":"Mark"}')).status).toBe(201);
  expect((await sent('{"name":"\\ud83d\\ude00 \\u00e9 \\\\u0000"}')).body.data.name).toBe("😀 é \\u0000");
});
