import { beforeAll, describe, expect, test } from "bun:test";
import { MemoryServiceHealth } from "../../adapters/memory/service_health.ts";
import { MemoryContainerEngine } from "../../adapters/memory/container_engine.ts";
import { failing } from "../support/faults/failing.ts";
import { type Answer, type Call, memoryApp, type TestApp } from "../support/apps/app.ts";

const UNKNOWN = "prj_00000000000000000000000000";
let app: TestApp;

beforeAll(async () => {
  app = await memoryApp();
});

const asOwner = (method: string, path: string, call: Call = {}) =>
  app.call(method, path, { token: app.owner, ...call });

const BUG = { error: new Error("secret detail at /srv/slipway/x.ts") };

describe("the error body", () => {
  const answers: [number, () => Promise<Answer>][] = [
    [400, () => asOwner("POST", "/api/projects", { body: {} })],
    [401, () => app.call("GET", "/api/projects")],
    [403, async () => app.call("POST", "/api/auth/login", { headers: { origin: "https://evil.example" } })],
    [404, () => asOwner("GET", `/api/projects/${UNKNOWN}`)],
    [405, () => asOwner("PUT", "/api/projects")],
    [409, () => asOwner("POST", "/api/projects", { body: { name: "Twice" } })],
    [413, () => asOwner("POST", "/api/projects", { raw: " ".repeat(1_048_577) })],
    [415, () => asOwner("POST", "/api/projects", { raw: "name=x", headers: { "content-type": "text/plain" } })],
  ];
  test.each(answers)("comes with %d, typed and with a request id", async (status, ask) => {
    if (status === 409) await ask();
    const { status: given, body, headers } = await ask();
    expect(given).toBe(status);
    expect(Object.keys(body).slice(0, 3)).toEqual(["success", "error", "code"]);
    expect(body.success).toBe(false);
    expect(body.error).toStartWith("Cannot ");
    expect(body.code).toMatch(/^[a-z][a-z_]+$/);
    expect(headers.get("content-type")).toStartWith("application/json");
    expect(headers.get("x-request-id")).toMatch(/^[\w-]{36}$/);
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("www-authenticate")).toBe(status === 401 ? "Bearer" : null);
  });

  test("comes with 500 for a bug, whose details are only logged, under the request's id", async () => {
    const { call, owner, world } = await memoryApp({}, ({ projects }) => ({
      projects: failing(projects, "list", BUG),
    }));
    const { status, text, headers } = await call("GET", "/api/projects", { token: owner });
    expect(status).toBe(500);
    expect(text).not.toContain("secret detail");
    const bug = world.log.lines.find(({ level }) => level === "error");
    expect(bug?.text).toContain("secret detail");
    expect(bug?.text).toContain(headers.get("x-request-id")!);
  });

  test("comes with 503 and Retry-After when the database is unavailable", async () => {
    const serviceHealth = new MemoryServiceHealth();
    serviceHealth.answers = false;
    const answer = await (await memoryApp({}, () => ({ serviceHealth }))).call("GET", "/api/health");
    expect([answer.status, answer.body.code, answer.headers.get("retry-after")]).toEqual([503, "database_away", "1"]);
  });
});

describe("the order of checks", () => {
  test.each([
    ["POST", "/api/projects", { raw: "{", headers: { "content-type": "application/json" } }, 401],
    ["POST", "/api/projects", { raw: "x" }, 401],
    ["POST", "/api/projects", { raw: "x".repeat(2_000_000) }, 401],
    ["GET", "/api/projects?page=abc", {}, 401],
    ["GET", "/api/projects/%00", {}, 401],
    ["GET", "/api/nothing", {}, 404],
    ["GET", "/", {}, 404],
    ["GET", "/api/projects/%zz", {}, 404],
    ["GET", "/api/projects/%ff", {}, 404],
    ["DELETE", "/api/projects", {}, 405],
  ] as const)("%s %s with %j and no credentials answers %d", async (method, path, call, status) => {
    expect((await app.call(method, path, call)).status).toBe(status);
  });
});

describe("methods", () => {
  test.each([
    ["PUT", "/api/projects", "GET, HEAD, POST"],
    ["OPTIONS", "/api/projects", "GET, HEAD, POST"],
    ["TRACE", "/api/health", "GET, HEAD"],
    ["HEAD", "/api/auth/login", "POST"],
    ["POST", `/api/projects/${UNKNOWN}`, "GET, HEAD, PATCH, DELETE"],
  ])("%s %s answers 405 with Allow: %s", async (method, path, allow) => {
    const request = new Request(`http://slipway.test${path}`, { method });
    const { status, headers } = await app.handle(request, "127.0.0.1");
    expect(status).toBe(405);
    expect(headers.get("allow")?.split(", ").toSorted()).toEqual(allow.split(", ").toSorted());
  });

  test("OPTIONS allows nothing to other origins", async () => {
    const headers = { origin: "https://evil.example", "access-control-request-method": "POST" };
    const request = new Request("http://slipway.test/api/projects", { method: "OPTIONS", headers });
    const answer = await app.handle(request, "127.0.0.1");
    expect([...answer.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
  });

  test.each(["/api/health", "/api/projects", "/api/docs", "/api/nothing"])(
    "HEAD %s answers like GET, without a body",
    async (path) => {
      const ask = (method: string) => {
        const headers = { authorization: `Bearer ${app.owner}` };
        return app.handle(new Request(`http://slipway.test${path}`, { method, headers }), "127.0.0.1");
      };
      const [head, get] = await Promise.all([ask("HEAD"), ask("GET")]);
      expect([head.status, head.headers.get("content-type")]).toEqual([get.status, get.headers.get("content-type")]);
      expect(await head.text()).toBe("");
    },
  );

  test("a trailing slash makes no difference, a second one does", async () => {
    for (const [path, status] of [
      ["/api/health/", 200],
      ["/api/health//", 404],
    ]) {
      expect((await app.handle(new Request(`http://slipway.test${path}`), "127.0.0.1")).status).toBe(Number(status));
    }
  });

  test.each([
    "a%2Fb",
    "..%2f..%2fetc",
    "%2e%2e%2f",
    "%00",
    "x%23y",
    "%F0%9F%9A%80",
    "__proto__",
    "constructor",
    "a".repeat(2_000),
  ])("an id like %p is not found", async (id) => {
    expect((await asOwner("GET", `/api/projects/${id}`)).body.code).toBe("project_not_found");
    expect((await asOwner("DELETE", `/api/members/${id}`)).body.code).toBe("member_not_found");
    expect((await asOwner("DELETE", `/api/tokens/${id}`)).body.code).toBe("token_not_found");
  });
});

const given = async (id: string) =>
  (await app.call("GET", "/api/health", { headers: { "x-request-id": id } })).headers.get("x-request-id");

describe("X-Request-Id", () => {
  test.each(["12345678", "trace-0af7651916cd43dd.1_2", "a".repeat(64)])("%p is adopted", async (id) => {
    expect(await given(id)).toBe(id);
  });

  test.each(["1234567", "a".repeat(65), "with space here", 'quote"injection', '{"level":1}', "ümläut-id"])(
    "%p is replaced",
    async (id) => {
      expect(await given(id)).toMatch(/^[0-9a-f-]{36}$/);
    },
  );

  test("is in the only log line of its request, with the caller and without the query", async () => {
    const before = app.world.log.lines.length;
    await asOwner("GET", "/api/projects?search=private", { headers: { "x-request-id": "log-line-test" } });
    const lines = app.world.log.lines.slice(before).map(({ text }) => JSON.parse(text));
    expect(lines).toMatchObject([{ requestId: "log-line-test", method: "GET", path: "/api/projects", status: 200 }]);
    expect(lines[0].userId).toStartWith("usr_");
    expect(JSON.stringify(lines)).not.toContain("private");
  });
});

const namesOf = ({ data }: { data: { name: string }[] }) => data.map(({ name }) => name);

describe("paging", () => {
  const LISTS = [
    "projects",
    "servers",
    "domains",
    "tokens",
    "organizations",
    "members",
    "members/invitations",
    "audit",
  ];

  test.each(LISTS)("GET /api/%s refuses values out of bounds and names them", async (list) => {
    for (const query of [
      "page=0",
      "page=-1",
      "page=abc",
      "page=1.5",
      "page=",
      "page=1e1",
      "page=0x2",
      "page=%201",
      "page=1000001",
    ]) {
      const answer = await asOwner("GET", `/api/${list}?${query}`);
      expect([query, answer.status, answer.body.details]).toEqual([
        query,
        400,
        [{ path: "page", message: "must be a whole number from 1 to 1000000" }],
      ]);
    }
    for (const query of ["perPage=0", "perPage=101", "perPage=NaN"]) {
      expect((await asOwner("GET", `/api/${list}?${query}`)).body.details[0].path).toBe("perPage");
    }
    expect((await asOwner("GET", `/api/${list}?limit=5&__proto__=x`)).status).toBe(200);
  });

  test("returns 50 newest first, the rest on further pages, nothing past the end, and always the total", async () => {
    const { call, owner, world } = await memoryApp();
    for (let number = 0; number < 60; number++) {
      await call("POST", "/api/projects", { token: owner, body: { name: `P${number}` } });
      world.clock.advance(1);
    }
    const page = async (query: string) => (await call("GET", `/api/projects${query}`, { token: owner })).body;
    const first = await page("");
    expect(first).toMatchObject({ total: 60, page: 1, perPage: 50 });
    expect(namesOf(first)).toEqual(Array.from({ length: 50 }, (_, index) => `P${59 - index}`));
    expect(namesOf(await page("?page=2"))).toEqual(Array.from({ length: 10 }, (_, index) => `P${9 - index}`));
    expect(await page("?page=3")).toEqual({ data: [], total: 60, page: 3, perPage: 50 });
    expect(namesOf(await page("?page=7&perPage=9"))).toEqual(["P5", "P4", "P3", "P2", "P1", "P0"]);
    expect((await page("?perPage=100")).data).toHaveLength(60);
    expect(await page("?page=1000000&perPage=100")).toMatchObject({ data: [], total: 60 });
  });
});

describe("the service about itself", () => {
  test("GET /api/health and /api/health/env return version, mode and runtime without credentials", async () => {
    const cloud = await memoryApp({ mode: "cloud", runtime: "auto" }, () => ({
      containerEngine: new MemoryContainerEngine(true),
    }));
    const version = expect.stringMatching(/^\d+\.\d+\.\d+/);
    expect((await cloud.call("GET", "/api/health")).body).toEqual({ status: "ok", version, mode: "cloud" });
    expect((await cloud.call("GET", "/api/health/env")).body).toEqual({
      selfHosted: false,
      mode: "cloud",
      runtime: "docker",
      version,
      authMode: "local",
    });
    const own = await memoryApp({ runtime: "auto" }, () => ({ containerEngine: new MemoryContainerEngine(false) }));
    expect((await own.call("GET", "/api/health/env")).body).toMatchObject({ selfHosted: true, runtime: "process" });
  });

  test("GET /metrics is Prometheus text whose labels hold routes, never ids or input of callers", async () => {
    const { call, owner, handle } = await memoryApp();
    const { id } = (await call("POST", "/api/projects", { token: owner, body: { name: "Harbour" } })).body.data;
    await call("GET", `/api/projects/${id}`, { token: owner });
    await call("GET", "/api/made-up-path");
    await handle(new Request("http://slipway.test/api/projects", { method: "PROPFIND" }), "127.0.0.1");
    const { text, headers } = await call("GET", "/metrics", { token: owner });
    expect(headers.get("content-type")).toBe("text/plain; version=0.0.4");
    for (const line of text.trimEnd().split("\n")) {
      expect(line).toMatch(
        /^(?:# (?:HELP \w+ .+|TYPE \w+ (?:counter|gauge|histogram))|\w+(?:\{\w+="[^"\\]*"(?:,\w+="[^"\\]*")*\})? (?:\d[\d.e+-]*|\+Inf))$/,
      );
    }
    expect(text).toContain('slipway_http_requests_total{method="GET",route="/api/projects/:id",status="200"} 1');
    expect(text).toContain('slipway_http_requests_total{method="unknown",route="unknown",status="404"} 1');
    for (const made of [id, "made-up", "PROPFIND"]) expect(text).not.toContain(made);
  });
});
