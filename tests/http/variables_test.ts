import { beforeAll, describe, expect, test } from "bun:test";
import { member, memoryApp, type TestApp } from "../support/apps/app.ts";

const VALUE = "s3cr3t-värde";
let app: TestApp;
let path: string;
let id: string;

beforeAll(async () => {
  app = await memoryApp();
});

async function fresh() {
  const body = { name: crypto.randomUUID() };
  id = (await app.call("POST", "/api/projects", { token: app.owner, body })).body.data.id;
  path = `/api/projects/${id}/env`;
}

const change = (body: unknown) => app.call("PATCH", path, { token: app.owner, body });
const list = async () => (await app.call("GET", path, { token: app.owner })).body.data;

const ofPreviews = (method: string, body?: unknown) =>
  app.call(method, `${path}?environment=preview`, { token: app.owner, ...(body !== undefined && { body }) });

describe("?environment of /api/projects/:id/env", () => {
  test("chooses the set of variables; production is the default", async () => {
    await fresh();
    await change({ upserts: [{ key: "SAME", value: VALUE, secret: true }] });
    const upserts = [
      { key: "SAME", value: "of previews" },
      { key: "OWN", value: VALUE, secret: true },
    ];
    const changed = await ofPreviews("PATCH", { upserts, deletes: ["NONE"] });
    expect(changed.body.data).toMatchObject([
      { key: "OWN", value: null, secret: true },
      { key: "SAME", value: "of previews", secret: false },
    ]);
    expect((await ofPreviews("GET")).body.data).toEqual(changed.body.data);
    expect(changed.text).not.toContain(VALUE);
    expect(await list()).toMatchObject([{ key: "SAME", value: null, secret: true }]);
    const named = await app.call("GET", `${path}?environment=production`, { token: app.owner });
    expect(named.body.data).toEqual(await list());
    await ofPreviews("PATCH", { deletes: ["SAME"] });
    expect((await app.world.variables.reveal(id)).get("SAME")?.reveal()).toBe(VALUE);
  });

  test.each(["environment=staging", "environment=", "environment=Preview"])(
    "%s is refused and changes nothing",
    async (query) => {
      await fresh();
      const body = { upserts: [{ key: "A", value: "1" }] };
      for (const method of ["GET", "PATCH"]) {
        const options = { token: app.owner, ...(method === "PATCH" && { body }) };
        const answer = await app.call(method, `${path}?${query}`, options);
        expect([answer.status, answer.body.details[0].path]).toEqual([400, "environment"]);
      }
      expect([await list(), (await ofPreviews("GET")).body.data]).toEqual([[], []]);
    },
  );

  test.each([
    ["K1", "environment=preview&environment=production"],
    ["K2", "environment=production&environment=preview"],
  ])("given twice, means the same set in the audit log as in the response: %s", async (key, query) => {
    await fresh();
    const body = { upserts: [{ key, value: "1" }] };
    expect((await app.call("PATCH", `${path}?${query}`, { token: app.owner, body })).status).toBe(200);
    const { data } = (await app.call("GET", `/api/audit?target=${id}&action=variable.change`, { token: app.owner }))
      .body;
    const isOfPreviews = (await app.world.variables.reveal(id, "preview")).has(key);
    expect(data[0].changed).toEqual([isOfPreviews ? `preview.${key}` : key]);
  });

  test("no other parameter changes what is written", async () => {
    await fresh();
    const body = { upserts: [{ key: "A", value: "1" }] };
    const answer = await app.call("PATCH", `${path}?upserts=x&deletes=A&at=0`, { token: app.owner, body });
    expect(answer.body.data).toMatchObject([{ key: "A", value: "1" }]);
  });
});

describe("PATCH /api/projects/:id/env", () => {
  test("writes, replaces and deletes in one step, and lists the result by key", async () => {
    await fresh();
    const first = await change({
      upserts: [
        { key: "B", value: "2" },
        { key: "A", value: "" },
      ],
    });
    expect(first.body.data).toMatchObject([
      { key: "A", value: "", secret: false },
      { key: "B", value: "2", secret: false },
    ]);
    app.world.clock.advance(1_000);
    const second = await change({
      upserts: [{ key: "C", value: "multi\nline $x `y` 'z'" }],
      deletes: ["A", "UNKNOWN"],
    });
    expect(second.body.data).toMatchObject([{ key: "B" }, { key: "C", value: "multi\nline $x `y` 'z'" }]);
    expect(second.body.data[0].updatedAt < second.body.data[1].updatedAt).toBe(true);
    expect(await list()).toEqual(second.body.data);
  });

  test("never returns a secret's value in a response or a log, but passes it to deployments", async () => {
    await fresh();
    const viewer = await member(app, "viewer");
    const texts = [
      (await change({ upserts: [{ key: "TOKEN", value: VALUE, secret: true }] })).text,
      (await app.call("GET", path, { token: app.owner })).text,
      (await app.call("GET", path, { token: viewer.token })).text,
      (await app.call("GET", "/api/audit", { token: app.owner })).text,
      app.world.log.lines.map(({ text }) => text).join("\n"),
    ];
    for (const text of texts) expect(text).not.toContain(VALUE);
    expect(await list()).toMatchObject([{ key: "TOKEN", value: null, secret: true }]);
    expect((await app.world.variables.reveal(id)).get("TOKEN")?.reveal()).toBe(VALUE);
  });

  test("keeps a secret secret unless a new value changes that", async () => {
    await fresh();
    await change({ upserts: [{ key: "TOKEN", value: VALUE, secret: true }] });
    await change({ upserts: [{ key: "TOKEN", value: "next" }] });
    expect(await list()).toMatchObject([{ key: "TOKEN", value: null, secret: true }]);
    expect((await app.world.variables.reveal(id)).get("TOKEN")?.reveal()).toBe("next");
  });

  test("a secret can be replaced and made plain only with a new value", async () => {
    await fresh();
    await change({ upserts: [{ key: "TOKEN", value: VALUE, secret: true }] });
    expect((await change({ upserts: [{ key: "TOKEN", secret: false }] })).status).toBe(400);
    expect((await change({ upserts: [{ key: "TOKEN", value: null }] })).status).toBe(400);
    await change({ upserts: [{ key: "TOKEN", value: "next", secret: true }] });
    expect(await list()).toMatchObject([{ value: null, secret: true }]);
    await change({ upserts: [{ key: "TOKEN", value: "plain", secret: false }] });
    expect(await list()).toMatchObject([{ value: "plain", secret: false }]);
  });

  test.each([
    [{ upserts: [{ key: "1A", value: "x" }] }, "upserts.0.key"],
    [{ upserts: [{ key: "A B", value: "x" }] }, "upserts.0.key"],
    [{ upserts: [{ key: "A=B", value: "x" }] }, "upserts.0.key"],
    [{ upserts: [{ key: "A\n", value: "x" }] }, "upserts.0.key"],
    [{ upserts: [{ key: "Ä", value: "x" }] }, "upserts.0.key"],
    [{ upserts: [{ key: "", value: "x" }] }, "upserts.0.key"],
    [{ upserts: [{ key: "A".repeat(256), value: "x" }] }, "upserts.0.key"],
    [{ upserts: [{ key: "/A", value: "x" }] }, "upserts.0.key"],
    [{ upserts: [{ key: "db/", value: "x" }] }, "upserts.0.key"],
    [{ upserts: [{ key: "d b/A", value: "x" }] }, "upserts.0.key"],
    [{ upserts: [{ key: "db/A B", value: "x" }] }, "upserts.0.key"],
    [{ upserts: [{ key: `db/${"A".repeat(256)}`, value: "x" }] }, "upserts.0.key"],
    [{ deletes: ["db/A=B"] }, "deletes.0"],
    [
      {
        upserts: [
          { key: "A", value: "x" },
          { key: "A", value: "y" },
        ],
      },
      "upserts.1.key",
    ],
    [{ upserts: [{ key: "A", value: "x" }], deletes: ["A"] }, "deletes.0"],
    [{ deletes: ["A", "A"] }, "deletes.1"],
    [{ deletes: ["-x"] }, "deletes.0"],
    [{ upserts: [{ key: "A", value: 5 }] }, "upserts.0.value"],
    [{ upserts: [{ key: "A", value: "x".repeat(65_537) }] }, "upserts.0.value"],
    [{ upserts: [{ key: "A", value: "x", secret: "yes" }] }, "upserts.0.secret"],
    [{ upserts: [{ value: "x" }] }, "upserts.0.key"],
    [{ upserts: "A=x" }, "upserts"],
    [{ upserts: Array.from({ length: 501 }, (_, index) => ({ key: `K${index}`, value: "" })) }, "upserts"],
  ])("refuses %j as a whole and names %s", async (body, name) => {
    await fresh();
    await change({ upserts: [{ key: "KEPT", value: "kept" }] });
    const answer = await change(body);
    expect([answer.status, answer.body.details[0].path]).toEqual([400, name]);
    expect(await list()).toMatchObject([{ key: "KEPT", value: "kept" }]);
  });

  test("writes, lists and deletes variables of one service, in both environments", async () => {
    await fresh();
    const upserts = [
      { key: "db/POSTGRES_PASSWORD", value: VALUE, secret: true },
      { key: "db/my.key", value: "odd" },
      { key: "POSTGRES_PASSWORD", value: "of every service" },
      { key: `${"s".repeat(63)}/${"n".repeat(255)}`, value: "long" },
    ];
    const written = [await change({ upserts }), await ofPreviews("PATCH", { upserts })];
    for (const { body, status, text } of written) {
      expect(status).toBe(200);
      expect(body.data).toMatchObject([
        { key: "POSTGRES_PASSWORD", value: "of every service", secret: false },
        { key: "db/POSTGRES_PASSWORD", value: null, secret: true },
        { key: "db/my.key", value: "odd", secret: false },
        { value: "long" },
      ]);
      expect(text).not.toContain(VALUE);
    }
    await change({ deletes: ["db/my.key", upserts[3]!.key] });
    expect((await list()).map(({ key }: { key: string }) => key)).toEqual([
      "POSTGRES_PASSWORD",
      "db/POSTGRES_PASSWORD",
    ]);
    expect((await ofPreviews("GET")).body.data).toHaveLength(4);
  });

  test("names the variables of one service in the audit log", async () => {
    await fresh();
    await change({ upserts: [{ key: "db/TOKEN", value: VALUE, secret: true }], deletes: ["web/OLD"] });
    app.world.clock.advance(1_000);
    await ofPreviews("PATCH", { upserts: [{ key: "db/my.key", value: VALUE }] });
    app.world.clock.advance(1_000);
    await change({ upserts: [{ key: "db/not valid", value: VALUE }] });
    const { body, text } = await app.call("GET", `/api/audit?target=${id}&action=variable.change`, {
      token: app.owner,
    });
    const changed = body.data.map((entry: { changed: string[] }) => entry.changed);
    expect(changed.toReversed()).toEqual([["db/TOKEN", "web/OLD"], ["preview.db/my.key"], []]);
    expect(text).not.toContain(VALUE);
  });

  test("accepts keys that are names of object properties", async () => {
    await fresh();
    const keys = ["__proto__", "constructor", "hasOwnProperty", "toString"].toSorted();
    await change({ upserts: keys.map((key) => ({ key, value: key })) });
    expect((await list()).map(({ key, value }: { key: string; value: string }) => [key, value])).toEqual(
      keys.map((key) => [key, key]),
    );
  });

  test("hundreds at once are all written", async () => {
    await fresh();
    const upserts = Array.from({ length: 500 }, (_, index) => ({ key: `K${index}`, value: String(index) }));
    expect((await change({ upserts })).body.data).toHaveLength(500);
  });
});
