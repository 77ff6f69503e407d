import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eventually } from "../support/eventually.ts";
import { expectHidden } from "../support/expect_hidden.ts";
import { randomInput } from "../support/inputs/random_input.ts";
import { answerOf } from "../support/servers/cloud_wire.ts";
import { type Reader, readFrames, readToEnd, readUntil } from "../support/servers/feed_reading.ts";
import { type Asked, LinkedServers, type Promoted, toldHeaders } from "../support/servers/linked_servers.ts";

const PROGRAM = `
  console.log("listening äöü 船");
  Bun.serve({ port: Number(process.env.PORT), hostname: "127.0.0.1", fetch: () => new Response("Hi") });
`;
const APP = { "server.ts": PROGRAM };
const RUN = { startCommand: "bun server.ts" };
const PAGE = { "index.html": "uploaded" };
const PRINT = { projectType: "static", buildCommand: "bun print.ts" };
const CUTS = 40;
/** Two services, of which one does not start. */
const HALF_BROKEN = [
  { name: "web", startCommand: "bun server.ts" },
  { name: "worker", startCommand: "false" },
];

describe("a self-hosted server that is linked to a cloud", () => {
  let servers: LinkedServers;
  beforeAll(async () => {
    servers = await LinkedServers.start();
  });
  afterAll(() => servers?.[Symbol.asyncDispose]());

  /** Asks the self-hosted server, and expects exactly what the cloud has answered to it; returns the answer. */
  async function forwarded(method: string, asked: Asked & { readonly status?: number }) {
    const here = await servers.ask(method, asked);
    expect({ path: asked.path, status: here.status, said: here.body }).toEqual({
      path: asked.path,
      status: asked.status ?? 200,
      said: expect.any(String),
    });
    const { last } = servers.wire;
    expect(last.line).toBe(`${method} /api/deployments/${asked.of.id}${asked.path}`);
    const { status, headers, body } = answerOf(last);
    expect(here).toEqual({ status, headers: toldHeaders(headers), body });
    return here;
  }

  /** Asks both servers, and expects the same. */
  async function sameAsThere(asked: Asked & { readonly status?: number }): Promise<void> {
    const here = await forwarded("GET", asked);
    expect([asked.path, here]).toEqual([asked.path, await servers.ask("GET", asked, "cloud")]);
  }

  /** Asks what no route accepts, which the self-hosted server refuses itself. */
  async function refusedAlike(method: string, asked: Asked & { readonly status?: number }): Promise<void> {
    const [here, there] = [await servers.ask(method, asked), await servers.ask(method, asked, "cloud")];
    expect([asked.path, here.status, here.body]).toEqual([asked.path, 400, there.body]);
  }

  async function promotedAndSettled(...given: Parameters<LinkedServers["promoted"]>): Promise<Promoted> {
    const of = await servers.promoted(...given);
    await of.here.settled(of.id);
    return of;
  }

  /** What is asked on each route about one deployment, in this order. */
  const ROUTES: Readonly<Record<string, (app: Promoted, site: Promoted, held: Promoted) => Promise<void>>> = {
    "GET /{id}": (app) => sameAsThere({ of: app, path: "" }),
    async "GET /{id}/logs"(app) {
      for (const path of ["", "?kind=runtime", "?limit=2&since=1", "?tail=1"])
        await sameAsThere({ of: app, path: `/logs${path}` });
      const headers = { accept: "text/plain" };
      for (const path of ["", "?kind=runtime"]) await sameAsThere({ of: app, path: `/logs${path}`, headers });
      await refusedAlike("GET", { of: app, path: "/logs?limit=0" });
    },
    async "GET /{id}/stream"(app) {
      for (const path of ["", "?since=3"]) await sameAsThere({ of: app, path: `/stream${path}` });
      const resumed = await forwarded("GET", { of: app, path: "/stream", headers: { "last-event-id": "3" } });
      expect(resumed.body).toStartWith(": open\n\nid: 4\n");
      await sameAsThere({ of: app, path: "/stream?since=100000", status: 204 });
    },
    "GET /{id}/build": (app) => sameAsThere({ of: app, path: "/build" }),
    "GET /{id}/info": (app) => sameAsThere({ of: app, path: "/info" }),
    "GET /{id}/usage": async (app) => void (await forwarded("GET", { of: app, path: "/usage" })),
    async "POST /{id}/build"(app, _, held) {
      await forwarded("POST", { of: app, path: "/build", status: 400 });
      await forwarded("POST", { of: held, path: "/build", body: {}, status: 202 });
    },
    async "POST /{id}/build/respond"(_, __, held) {
      const { prompt } = await eventually(
        async () => (await held.here.call("GET", `/api/deployments/${held.id}/build`)).body.data,
        (build) => build.prompt !== null,
      );
      const path = "/build/respond";
      const wrong = { promptId: prompt.promptId, action: "perhaps" };
      await forwarded("POST", { of: held, path, body: wrong, status: 400 });
      await forwarded("POST", { of: held, path, body: { promptId: prompt.promptId, action: "approve" } });
      await held.here.deployed(held.id);
    },
    async "POST /{id}/redeploy"(_, site) {
      await refusedAlike("POST", { of: site, path: "/redeploy", body: { unknown: true } });
      const body = { useExistingCommit: true };
      await settledNext(site, await forwarded("POST", { of: site, path: "/redeploy", body, status: 202 }));
    },
    async "POST /{id}/rollback"(_, site) {
      await settledNext(site, await forwarded("POST", { of: site, path: "/rollback", status: 202 }));
      expect(await site.there.page()).toBe("from git");
    },
    async "POST /{id}/promote"(_, site) {
      const preview = await servers.deployed(site.here, { environment: "preview" });
      await preview.here.deployed(preview.id);
      await settledNext(site, await forwarded("POST", { of: preview, path: "/promote", status: 202 }));
    },
    async "POST /{id}/pin"(app) {
      for (const pinned of [true, false]) await forwarded("POST", { of: app, path: "/pin", body: { pinned } });
    },
    async "POST /{id}/cancel"(app, site) {
      await forwarded("POST", { of: app, path: "/cancel", status: 400 });
      const held = await servers.deployed(site.here, { start: false });
      await forwarded("POST", { of: held, path: "/cancel" });
    },
    async "POST /{id}/keep"(app) {
      await forwarded("POST", { of: app, path: "/keep", status: 400 });
      const half = await promotedAndSettled(APP, { request: { services: HALF_BROKEN } });
      await forwarded("POST", { of: half, path: "/keep" });
    },
    async "POST /{id}/reject"(app) {
      await forwarded("POST", { of: app, path: "/reject", status: 400 });
      const half = await promotedAndSettled(APP, { request: { services: HALF_BROKEN } });
      await forwarded("POST", { of: half, path: "/reject" });
    },
    "POST /{id}/restart": async (app) => void (await forwarded("POST", { of: app, path: "/restart" })),
    async "DELETE /{id}"(app) {
      await forwarded("DELETE", { of: app, path: "" });
      expect((await app.here.call("GET", `/api/deployments/${app.id}`)).status).toBe(404);
    },
  };

  test("answers on every route about a deployment there exactly as the cloud does", async () => {
    const { body } = await servers.home.call("GET", "/api/openapi.json");
    const declared = Object.entries(body.paths as Record<string, object>)
      .filter(([path]) => path.startsWith("/api/deployments/{id}"))
      .flatMap(([path, methods]) =>
        Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.slice("/api/deployments".length)}`),
      );
    expect(Object.keys(ROUTES).toSorted()).toEqual(declared.toSorted());
    const gitUrl = await servers.repository("site", { "index.html": "from git" });
    const [app, site, held] = await Promise.all([
      servers.promoted(APP, { settings: RUN }),
      servers.deployed(await servers.project({ gitUrl }), { deployTarget: "cloud" }),
      servers.promoted(PAGE, { request: { start: false, requireApproval: true } }),
    ]);
    for (const { here, id } of [app, site]) await here.deployed(id);
    expect([await app.there.page(), await site.there.page()]).toEqual(["Hi", "from git"]);
    for (const [route, asked] of Object.entries(ROUTES)) {
      try {
        await asked(app, site, held);
      } catch (cause) {
        throw new Error(`${route}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
      }
    }
  });

  test("lets its members do no more there than here", async () => {
    const of = await servers.promoted(PAGE);
    await of.here.deployed(of.id);
    const { token } = await servers.tokenWith(["deployment:read"]);
    const headers = { authorization: `Bearer ${token}` };
    for (const route of Object.keys(ROUTES)) {
      const [method = "", path = ""] = route.split(" /{id}");
      const before = servers.wire.exchanges.length;
      const { status } = await servers.ask(method.trim(), { of, path, headers });
      expect([route, status]).toEqual([route, method === "GET" ? 200 : 403]);
      if (method !== "GET") expect(servers.wire.exchanges.slice(before).map(({ line }) => line)).toEqual([]);
    }
    const asked = {
      of,
      path: "",
      headers: { authorization: `Bearer ${(await servers.tokenWith(["project:read"])).token}` },
    };
    expect((await servers.ask("GET", asked)).status).toBe(403);
  });

  /** Opens the event stream of a deployment here. */
  async function opened(of: Promoted, asked: Omit<Asked, "of" | "path"> = {}): Promise<Reader> {
    const response = await servers.send("GET", { of, path: "/stream", ...asked });
    if (response.status !== 200 || !response.body) throw new Error(await response.text());
    return response.body.getReader();
  }

  test("passes a stream on that was cut again and again without a lost or doubled event", async () => {
    const of = await servers.promoted({ ...PAGE, "print.ts": printing(600) }, { settings: PRINT });
    const seen: string[] = [];
    const lengths = randomInput("cuts of a forwarded stream");
    for (let cuts = 0; seen.at(-1)?.includes("event: end") !== true; cuts++) {
      const cut = new AbortController();
      const since = /^id: (\d+)/.exec(seen.at(-1) ?? "")?.[1] ?? "0";
      const reader = await opened(of, { headers: { "last-event-id": since }, signal: cut.signal });
      seen.push(...(await readFrames(reader, cuts < CUTS ? 1 + lengths.below(40) : Number.POSITIVE_INFINITY)));
      cut.abort();
    }
    const stored = await servers.ask("GET", { of, path: "/stream" }, "cloud");
    const text = Buffer.from(stored.body, "latin1").toString();
    expect(seen).toEqual(text.split("\n\n").filter((frame) => frame.startsWith("id: ")));
    expect(text).toContain("599 of 600: ähnlich wie 船");
  });

  test("ends a stream in the cloud when the client leaves, and when its token is revoked", async () => {
    const of = await servers.promoted(PAGE, { request: { start: false } });
    const left = new AbortController();
    const leaving = await opened(of, { signal: left.signal });
    await readUntil(leaving, "queued");
    const first = servers.wire.last;
    const { id, token } = await servers.tokenWith(["deployment:read"]);
    const revoked = await opened(of, { headers: { authorization: `Bearer ${token}` } });
    await readUntil(revoked, "queued");
    const second = servers.wire.last;
    expect([first, second].map(({ client }) => client.destroyed)).toEqual([false, false]);
    left.abort();
    await eventually(
      async () => first.client.destroyed,
      (isClosed) => isClosed,
    );
    expect(second.client.destroyed).toBe(false);
    await servers.home.call("DELETE", `/api/tokens/${id}`, { token: servers.home.owner });
    await readToEnd(revoked);
    await eventually(
      async () => second.client.destroyed,
      (isClosed) => isClosed,
    );
  });

  test("tells nobody the token of the link, and the cloud no credential of its own", async () => {
    const { home, cloud, wire, linkToken } = servers;
    for (const [server, path] of [
      [home, "/api/cloud/link"],
      [home, "/api/audit?perPage=100"],
      [cloud, "/api/tokens"],
      [cloud, "/api/audit?perPage=100"],
    ] as const) {
      const { status, text } = await server.call("GET", path, { token: server.owner });
      expect([path, status]).toEqual([path, 200]);
      servers.answers.push(text);
    }
    const said = [...servers.answers, servers.logs, ...wire.exchanges.map(({ answer }) => answer)].join("\n");
    expectHidden(said, { "token of the link": linkToken });
    expectHidden(wire.exchanges.map(({ request }) => request).join("\n"), { "owner's token": home.owner });
  });
});

/** The id of the deployment that an answer names, once it has settled. */
async function settledNext({ here }: Promoted, { body }: { readonly body: string }): Promise<string> {
  const { deployment_id: id } = JSON.parse(body) as { deployment_id: string };
  await here.deployed(id);
  return id;
}

/** Prints lines in bursts, with multi-byte characters. */
function printing(lines: number): string {
  return `
    for (let line = 0; line < ${lines}; line++) {
      console.log(line + " of ${lines}: ähnlich wie 船 " + "x".repeat(line % 80));
      if (line % 20 === 0) await Bun.sleep(30);
    }`;
}
