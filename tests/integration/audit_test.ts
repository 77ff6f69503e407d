import { describe, expect, test } from "bun:test";
import { type Answer, browser, type Call, member, memoryApp, ownerSession, type TestApp } from "../support/apps/app.ts";
import { failing } from "../support/faults/failing.ts";
import { furnish, goodRequest, MACHINE } from "../support/apps/furnished.ts";
import { intercepted } from "../support/faults/intercepted.ts";

interface Entry {
  readonly id: string;
  readonly userId: string;
  readonly credential: { readonly kind: string; readonly id: string };
  readonly action: string;
  readonly target: string | null;
  readonly changed: readonly string[];
  readonly at: string;
  readonly from: string;
  readonly requestId: string;
  readonly outcome: string;
}

async function entries({ call, owner }: Pick<TestApp, "call" | "owner">, query = ""): Promise<Entry[]> {
  return (await call("GET", `/api/audit?perPage=100${query}`, { token: owner })).body.data;
}

async function entriesOf(app: TestApp, answer: Answer): Promise<Entry[]> {
  return (await entries(app)).filter(({ requestId }) => requestId === answer.headers.get("x-request-id"));
}

function create({ call, owner }: TestApp, options: Call = {}) {
  return call("POST", "/api/projects", { token: owner, body: { name: "Harbour" }, ...options });
}

/** The target of a change: the id or the repository in its path, else the id of the created resource. */
function targetOf(path: string, { body }: Answer): string | null {
  const repository = /^\/api\/githost\/repos\/([^/]+\/[^/]+)/.exec(path)?.[1];
  const named = repository ?? path.split("/").find((part) => /^[a-z]{3}_\w{20,}$/.test(part));
  return (
    named ??
    (typeof body.data?.id === "string" ? body.data.id : undefined) ??
    body.data?.deployment_id ??
    body.deployment_id ??
    body.project_id ??
    body.sessionId ??
    null
  );
}

describe("every change", () => {
  test("leaves exactly one entry: who, by what, what, to what, when, from where, with what outcome", async () => {
    const app = await memoryApp();
    app.world.remoteHosts.add(MACHINE);
    const ids = await furnish(app);
    const me = (await app.call("GET", "/api/auth/me", { token: app.owner })).body.data;
    const changing = app.routes.filter(({ method, permission }) => method !== "GET" && permission);
    const last = changing.filter(({ path }) => path === "/api/githost/disconnect");
    const others = changing.filter((route) => route.method !== "DELETE" && !last.includes(route));
    const removals = changing.filter(({ method }) => method === "DELETE").toReversed();
    for (const { method, path, operation } of [...others, ...removals, ...last]) {
      app.world.clock.advance(1_000);
      const { path: filled, call } = goodRequest(method, path, ids, "owner");
      const answer = await app.call(method, filled, { ...call, token: app.owner, peer: "192.0.2.44" });
      const { id: _, ...entry } = (await entriesOf(app, answer))[0] ?? { id: "" };
      const recorded = {
        userId: me.user.id,
        credential: { kind: "token", id: me.credential.id },
        actingFor: null,
        action: operation.name,
        target: targetOf(filled, answer),
        changed: expect.any(Array),
        at: app.world.clock.now().toISOString(),
        from: "192.0.2.44",
        requestId: answer.headers.get("x-request-id"),
        outcome: answer.status < 300 ? "succeeded" : "failed",
      };
      expect(operation.unaudited ? entry : [filled, entry]).toEqual(operation.unaudited ? {} : [filled, recorded]);
      expect(await entriesOf(app, answer)).toHaveLength(operation.unaudited ? 0 : 1);
      // Logging out requires a session cookie, no deployment here awaits a decision, and a project runs on the server.
      const refused = ["auth.logout", "deployment.keep", "deployment.reject", "server.remove"];
      const isRefused = refused.includes(operation.name);
      expect([filled, answer.status < 300]).toEqual([filled, !isRefused]);
    }
  });

  test("is audited, except reading an upload, a repository or a certificate, and deliveries of the git host, which have a list of their own", async () => {
    const { routes } = await memoryApp();
    expect(routes.filter(({ operation }) => operation.unaudited).map(({ operation }) => operation.name)).toEqual([
      "upload.scan",
      "githost.confirm",
      "githost.webhook",
      "deployment.prepare",
      "ssl.status",
    ]);
  });

  test("is audited, but no read is", async () => {
    const app = await memoryApp();
    const before = await entries(app);
    for (const { method, path, permission } of app.routes) {
      if (method === "GET" && permission) await app.call(method, path.replace(":id", "x"), { token: app.owner });
    }
    expect(await entries(app)).toEqual(before);
  });

  test("is recorded before it happens, so that a killed process leaves a trace", async () => {
    const seen: Entry[][] = [];
    const app = await memoryApp({}, ({ projects }) => ({
      projects: intercepted(projects, "create", async (goOn) => {
        seen.push(await entries(app, "&action=project.create"));
        return goOn();
      }),
    }));
    await create(app);
    expect(seen).toMatchObject([[{ action: "project.create", outcome: "started", target: null }]]);
    expect(await entries(app, "&action=project.create")).toMatchObject([{ outcome: "succeeded" }]);
  });
});

describe("the changed fields of an entry", () => {
  test("are names of fields and keys of variables, and no values", async () => {
    const app = await memoryApp();
    const { id } = (await create(app)).body.data;
    const patch = (path: string, body: object) =>
      app.call("PATCH", `/api/projects/${id}${path}`, { token: app.owner, body });
    const fields = await patch("", { name: "Renamed", buildCommand: "make hush-hush", port: null });
    const upserts = [
      { key: "API_KEY", value: "hush-hush", secret: true },
      { key: "COLOR", value: "blue" },
    ];
    const variables = await patch("/env", { upserts, deletes: ["OLD"] });
    const changes = async (answer: Answer) => (await entriesOf(app, answer)).map(({ changed }) => changed);
    expect(await changes(fields)).toEqual([["name", "buildCommand", "port"]]);
    expect(await changes(variables)).toEqual([["API_KEY", "COLOR", "OLD"]]);
    const ofPreviews = await patch("/env?environment=preview", { upserts, deletes: ["OLD"] });
    expect(await changes(ofPreviews)).toEqual([["preview.API_KEY", "preview.COLOR", "preview.OLD"]]);
    expect(JSON.stringify(await entries(app))).not.toMatch(/hush|blue|Renamed/);
  });

  test("are recorded for a change that failed, without unknown names", async () => {
    const app = await memoryApp();
    const { id } = (await create(app)).body.data;
    const path = `/api/projects/${id}`;
    const send = async (to: string, body: object) => {
      const answer = await app.call("PATCH", to, { token: app.owner, body });
      return [answer.status, (await entriesOf(app, answer)).map(({ changed }) => changed)];
    };
    expect(await send(path, { name: 5, "s3cret in the wrong place": 1, toString: 1 })).toEqual([400, [["name"]]]);
    expect(await send(`${path}/env`, { upserts: "A", deletes: [null, 5, "a b", "GOOD"] })).toEqual([400, [["GOOD"]]]);
    expect(await send(`${path}/env`, { upserts: [null, { key: {} }, { key: "B" }] })).toEqual([400, [["B"]]]);
  });

  test("are empty when the caller was refused before its body was read", async () => {
    const app = await memoryApp();
    const { id } = (await create(app)).body.data;
    const viewer = await member(app, "viewer");
    const answer = await app.call("PATCH", `/api/projects/${id}`, { token: viewer.token, body: { name: "x" } });
    expect(await entriesOf(app, answer)).toMatchObject([{ outcome: "refused", changed: [] }]);
  });
});

describe("outcomes", () => {
  test("a caller without the permission gets a refused entry under its own name", async () => {
    const app = await memoryApp();
    const { id } = (await create(app)).body.data;
    const viewer = await member(app, "viewer");
    const answer = await app.call("DELETE", `/api/projects/${id}`, { token: viewer.token });
    expect(await entriesOf(app, answer)).toMatchObject([
      {
        userId: viewer.userId,
        credential: { kind: "token", id: viewer.tokenId },
        action: "project.remove",
        target: id,
        outcome: "refused",
      },
    ]);
  });

  test("a change from another site's page, and one that its handler refuses, get a refused entry", async () => {
    const app = await memoryApp();
    const { cookie } = await member(app, "admin");
    const foreign = await create(app, { ...browser(cookie, { origin: "https://evil.example" }), token: "" });
    expect(await entriesOf(app, foreign)).toMatchObject([
      { action: "project.create", outcome: "refused", credential: { kind: "session" } },
    ]);
    const body = { email: "x@example.com", role: "owner" };
    const beyond = await app.call("POST", "/api/members", { ...browser(cookie), body });
    expect(await entriesOf(app, beyond)).toMatchObject([{ action: "member.invite", outcome: "refused", target: null }]);
  });

  test("wrong input, a missing target, a conflict and a bug get a failed entry", async () => {
    const app = await memoryApp({}, ({ servers }) => ({ servers: failing(servers, "create") }));
    await create(app);
    const server = { name: "x", sshHost: "x.example.com", sshUser: "x", sshPassword: "x" };
    const answers = [
      await create(app, { body: {} }),
      await app.call("DELETE", "/api/projects/prj_00000000000000000000000000", { token: app.owner }),
      await create(app),
      await app.call("POST", "/api/servers", { token: app.owner, body: server }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([400, 404, 409, 500]);
    for (const answer of answers) expect(await entriesOf(app, answer)).toMatchObject([{ outcome: "failed" }]);
  });

  test("a refusal without a known caller leaves no entry", async () => {
    const app = await memoryApp();
    const before = await entries(app);
    await create(app, { token: "slp_unknown" });
    await app.call("POST", "/api/auth/login", { body: { email: "nobody@localhost", password: "wrong" } });
    expect(await entries(app)).toEqual(before);
  });

  test("an encoded id is recorded decoded, and an invalid one not at all", async () => {
    const app = await memoryApp();
    const { id } = (await create(app)).body.data;
    const disguised = `/api/projects/${id.replace("prj", "%70rj")}`;
    const answer = await app.call("PATCH", disguised, { token: app.owner, body: { name: "Renamed" } });
    expect(await entriesOf(app, answer)).toMatchObject([{ target: id, outcome: "succeeded" }]);
    for (const odd of ["a%00b", "a%0Ab", "%F0%9F%9A%80", "x".repeat(301)]) {
      const missing = await app.call("DELETE", `/api/projects/${odd}`, { token: app.owner });
      expect(await entriesOf(app, missing)).toMatchObject([{ target: null, outcome: "failed" }]);
    }
  });
});

describe("users", () => {
  test("joining and logging in are recorded in the organizations concerned", async () => {
    const app = await memoryApp();
    const viewer = await member(app, "viewer");
    const [login] = await entries(app, "&action=auth.login");
    expect(login).toMatchObject({
      userId: viewer.userId,
      credential: { kind: "password", id: viewer.userId },
      outcome: "succeeded",
    });
    expect(login?.target).toMatch(/^ses_/);
    const [join] = await entries(app, "&action=member.join");
    expect(join).toMatchObject({
      userId: viewer.userId,
      target: viewer.userId,
      credential: { kind: "invitation" },
      outcome: "succeeded",
    });
    const cookie = await ownerSession(app);
    const second = await app.call("POST", "/api/organizations", { token: app.owner, body: { name: "Second" } });
    await ownerSession(app);
    const headers = { "x-organization-id": second.body.data.id };
    const elsewhere = await app.call("GET", "/api/audit", { cookie: await ownerSession(app), headers });
    expect(elsewhere.body.data.map(({ action }: Entry) => action)).toEqual(["auth.login", "auth.login"]);
    expect((await app.call("GET", "/api/audit", { cookie, headers })).status).toBe(401);
  });

  test("a session's changes name the session", async () => {
    const app = await memoryApp();
    const cookie = await ownerSession(app);
    const [login] = await entries(app, "&action=auth.login");
    const answer = await app.call("POST", "/api/projects", { ...browser(cookie), body: { name: "By hand" } });
    expect(await entriesOf(app, answer)).toMatchObject([{ credential: { kind: "session", id: login!.target! } }]);
  });
});

describe("GET /api/audit", () => {
  test("lists newest first and filters by user, action and target", async () => {
    const app = await memoryApp();
    const developer = await member(app, "developer");
    app.world.clock.advance(1_000);
    const { id } = (await create(app)).body.data;
    app.world.clock.advance(1_000);
    await app.call("PATCH", `/api/projects/${id}`, { token: developer.token, body: { name: "Renamed" } });
    const actions = async (query: string) => (await entries(app, query)).map(({ action }) => action);
    expect((await actions("")).slice(0, 2)).toEqual(["project.change", "project.create"]);
    expect(await actions(`&target=${id}`)).toEqual(["project.change", "project.create"]);
    expect(await actions("&action=project.change")).toEqual(["project.change"]);
    expect((await actions(`&userId=${developer.userId}`))[0]).toBe("project.change");
    expect(await actions(`&userId=${developer.userId}&target=${id}`)).toEqual(["project.change"]);
    expect(await actions("&action=nothing")).toEqual([]);
  });
});
