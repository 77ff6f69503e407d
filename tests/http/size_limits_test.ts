import { describe, expect, test } from "bun:test";
import { type Call, memoryApp } from "../support/apps/app.ts";

async function scene() {
  const app = await memoryApp();
  const ask = (method: string, path: string, body: Call["body"]) => app.call(method, path, { token: app.owner, body });
  const { id } = (await ask("POST", "/api/projects", { name: "Harbour" })).body.data as { id: string };
  return { app, ask, id, path: `/api/projects/${id}` };
}

/** Services whose settings take about `bytes` bytes. */
function services(bytes: number) {
  const environment = Object.fromEntries(
    Array.from({ length: bytes / 10_000 }, (_, at) => [`KEY_${at}`, "x".repeat(9_980)]),
  );
  return [{ name: "web", image: "nginx", environment }];
}

function upserts(count: number, value: string, from = 0) {
  return Array.from({ length: count }, (_, at) => ({ key: `KEY_${from + at}`, value }));
}

describe("the settings of a project", () => {
  test("have at most 256 KiB, on every route", async () => {
    const { ask, path } = await scene();
    const answers = [
      await ask("POST", "/api/projects", { name: "Large", services: services(300_000) }),
      await ask("POST", "/api/projects/ensure", { name: "Large", services: services(300_000) }),
      await ask("POST", "/api/projects/ensure", { name: "Harbour", services: services(300_000) }),
      await ask("PATCH", path, { services: services(300_000) }),
    ];
    for (const { status, body } of answers) {
      expect([status, body.code]).toEqual([400, "settings_too_large"]);
      expect(body.error).toContain("262144 bytes");
    }
    expect((await ask("PATCH", path, { services: services(250_000) })).status).toBe(200);
  });

  test("are limited as a whole: existing plus added ones", async () => {
    const { ask, path } = await scene();
    expect((await ask("PATCH", path, { services: services(260_000) })).status).toBe(200);
    const buildCommand = "x".repeat(2_000);
    expect((await ask("PATCH", path, { buildCommand, startCommand: buildCommand })).body.code).toBe(
      "settings_too_large",
    );
    expect((await ask("PATCH", path, { buildCommand, services: services(10_000) })).status).toBe(200);
  });
});

describe("the variables of a project", () => {
  test("are limited to a thousand", async () => {
    const { ask, path } = await scene();
    for (const from of [0, 500]) {
      expect((await ask("PATCH", `${path}/env`, { upserts: upserts(500, "x", from) })).status).toBe(200);
    }
    const { status, body } = await ask("PATCH", `${path}/env`, { upserts: upserts(1, "x", 1_000) });
    expect([status, body.code]).toEqual([400, "too_many_variables"]);
    expect(body.error).toContain("at most 1000, and this would make 1001");
    const swapped = await ask("PATCH", `${path}/env`, { upserts: upserts(1, "x", 1_000), deletes: ["KEY_0"] });
    expect([swapped.status, swapped.body.data.length]).toEqual([200, 1_000]);
  });

  test("have at most a mebibyte of values", async () => {
    const { ask, path } = await scene();
    for (const from of [0, 8]) {
      expect((await ask("PATCH", `${path}/env`, { upserts: upserts(8, "x".repeat(65_536), from) })).status).toBe(200);
    }
    const { status, body } = await ask("PATCH", `${path}/env`, { upserts: upserts(1, "x", 16) });
    expect([status, body.code]).toEqual([400, "variables_too_large"]);
    expect(body.error).toContain("at most 1048576 bytes, and this would make 1048577");
    expect((await ask("PATCH", `${path}/env`, { deletes: ["KEY_0"] })).status).toBe(200);
  });
});
