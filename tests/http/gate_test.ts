import { describe, expect, test } from "bun:test";
import { Failure } from "../../domain/failure.ts";
import { newId } from "../../domain/id.ts";
import { memoryApp, type TestApp } from "../support/app.ts";
import { failing } from "../support/failing.ts";

const lines = ({ world }: TestApp) => world.log.lines.map(({ level, text }) => ({ level, ...JSON.parse(text) }));

async function metrics({ call, owner }: TestApp): Promise<string> {
  return (await call("GET", "/metrics", { token: owner })).text;
}

test("a bug in what looks at a request first still gives it an id, a log line and an end", async () => {
  const app = await memoryApp();
  const request = new Request("http://slipway.test/api/health", { headers: { "x-request-id": "broken-request" } });
  Object.defineProperty(request, "url", {
    get() {
      throw new Error("Broken on purpose");
    },
  });
  const answer = await app.handle(request, "192.0.2.44");
  expect([answer.status, answer.headers.get("x-request-id")]).toEqual([500, "broken-request"]);
  expect(lines(app)).toMatchObject([
    { level: "error", requestId: "broken-request", error: expect.stringContaining("Broken on purpose") },
    { level: "info", requestId: "broken-request", path: "unknown", status: 500, address: "192.0.2.44" },
  ]);
  // The question itself is the one that runs.
  expect(await metrics(app)).toContain("\nslipway_http_requests_running 1\n");
});

describe("a part of the service that is down", () => {
  const socket = Object.assign(new Error("connect ECONNREFUSED 192.0.2.5:5432"), { code: "ECONNREFUSED" });
  const away = new Failure("unavailable", "database_away", "Cannot reach the database: nothing listens", {
    cause: new Error("no connection", { cause: socket }),
  });

  test.each(["list", "find"] as const)("is logged with its cause, which no caller sees (%s)", async (method) => {
    const app = await memoryApp({}, ({ projects }) => ({ projects: failing(projects, method, { error: away }) }));
    const path = method === "list" ? "/api/projects" : `/api/projects/${newId("prj")}`;
    const { status, text, headers } = await app.call("GET", path, { token: app.owner });
    expect([status, headers.get("retry-after")]).toEqual([503, "1"]);
    expect(text).not.toContain("ECONN");
    const [warning, line] = lines(app);
    expect(warning).toEqual({
      level: "warn",
      message: "A request needed a part that is down",
      requestId: headers.get("x-request-id")!,
      code: "database_away",
      error: "Cannot reach the database: nothing listens",
      cause: "Error: no connection; ECONNREFUSED: connect ECONNREFUSED 192.0.2.5:5432",
    });
    expect(line).toMatchObject({ level: "info", status: 503 });
  });

  test("is logged also when it fails before a route runs", async () => {
    const app = await memoryApp({}, ({ identities }) => ({
      identities: failing(identities, "find", { error: away }),
    }));
    expect((await app.call("GET", "/api/projects", { token: app.owner })).status).toBe(503);
    expect(lines(app).map(({ level, code }) => [level, code])).toEqual([
      ["warn", "database_away"],
      ["info", undefined],
    ]);
  });

  test("leaves ordinary refusals unreported", async () => {
    const app = await memoryApp();
    await app.call("GET", "/api/projects/x", { token: app.owner });
    expect(lines(app).map(({ level }) => level)).toEqual(["info"]);
  });
});
