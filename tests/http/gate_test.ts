import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Failure } from "../../domain/failure.ts";
import { newId } from "../../domain/id.ts";
import { type Listener, listen } from "../../wiring/listen.ts";
import { memoryApp, type TestApp } from "../support/apps/app.ts";
import { eventually } from "../support/eventually.ts";
import { failing } from "../support/faults/failing.ts";
import { OpenRequest, type RequestHead } from "../support/servers/http_client.ts";
import { intercepted } from "../support/faults/intercepted.ts";
import { file, tarGz } from "../support/inputs/tar_archive.ts";

const lines = ({ world }: TestApp) => world.log.lines.map(({ level, text }) => ({ level, ...JSON.parse(text) }));

async function metrics({ call, owner }: TestApp): Promise<string> {
  return (await call("GET", "/metrics", { token: owner })).text;
}

test("a bug at the start of the gate still yields a request id, a log line and a response", async () => {
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
  // The metrics request itself is the running one.
  expect(await metrics(app)).toContain("\nslipway_http_requests_running 1\n");
});

describe("an unavailable part of the service", () => {
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
      message: "A request failed because a component is unavailable",
      requestId: headers.get("x-request-id")!,
      code: "database_away",
      error: "Cannot reach the database: nothing listens",
      cause: "Error: no connection; ECONNREFUSED: connect ECONNREFUSED 192.0.2.5:5432",
    });
    expect(line).toMatchObject({ level: "info", status: 503 });
  });

  test("is logged even when it fails before a route runs", async () => {
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

describe("a client that disconnects", () => {
  let app: TestApp;
  let listener: Listener;
  let organizationId: string;
  let identified = 0;

  beforeAll(async () => {
    app = await memoryApp({}, ({ identities, projects }) => ({
      projects: intercepted(projects, "list", (goOn) => Bun.sleep(50).then(goOn)),
      identities: intercepted(identities, "find", (goOn) => {
        identified++;
        return goOn();
      }),
    }));
    listener = listen({ host: "127.0.0.1", port: 0 });
    listener.serve(app.handle);
    organizationId = (await app.call("GET", "/api/organizations", { token: app.owner })).body.data[0].id;
  });

  afterAll(() => listener.stop(0));

  const open = (head: Omit<RequestHead, "token">) =>
    OpenRequest.open(`http://127.0.0.1:${listener.port}`, { token: app.owner, ...head });
  const lineOf = (requestId: string) =>
    eventually(
      async () => lines(app).find((line) => line.requestId === requestId),
      (line) => line !== undefined,
    );

  const uploads: [string, Pick<RequestHead, "length" | "headers">][] = [
    ["announced", { length: 5_000 }],
    ["chunked", {}],
    ["announced and keyed", { length: 5_000, headers: { "idempotency-key": "once" } }],
  ];

  test.each(uploads)("in the middle of an upload, %s, is an outcome of its own", async (what, head) => {
    const { sessionId } = (await app.call("POST", "/api/projects/folder/session", { token: app.owner, body: {} })).body;
    const path = `/api/projects/folder/upload/${sessionId}`;
    const requestId = `upload-${what.replaceAll(" ", "-")}`;
    using request = await open({ path, ...head, headers: { "x-request-id": requestId, ...head.headers } });
    await request.write(tarGz([file("index.html")]).subarray(0, 30));
    await eventually(
      () => app.world.uploadSessions.find(organizationId, sessionId),
      (session) => session?.state === "receiving",
    );
    request.cut();
    expect(await lineOf(requestId)).toMatchObject({ level: "info", status: 499 });
  });

  test("in the middle of a JSON body is not counted as a failure of the service", async () => {
    const headers = { "content-type": "application/json", "x-request-id": "half-a-body" };
    const before = identified;
    using request = await open({ path: "/api/projects", length: 5_000, headers });
    await request.write(Buffer.from('{"name":'));
    // The server reads the body next.
    await eventually(
      async () => identified,
      (count) => count > before,
    );
    request.cut();
    expect(await lineOf("half-a-body")).toMatchObject({ level: "info", status: 499 });
    expect(lines(app).filter(({ level }) => level !== "info")).toEqual([]);
    expect(await metrics(app)).not.toContain('status="500"');
    expect(await metrics(app)).toContain('route="/api/projects",status="499"} 1');
  });

  test("before a successful response does not change it", async () => {
    const headers = { authorization: `Bearer ${app.owner}`, "x-request-id": "impatient" };
    const leave = new AbortController();
    const response = app.handle(
      new Request("http://slipway.test/api/projects", { headers, signal: leave.signal }),
      "peer",
    );
    leave.abort();
    expect((await response).status).toBe(200);
    expect(await lineOf("impatient")).toMatchObject({ status: 200 });
  });
});
