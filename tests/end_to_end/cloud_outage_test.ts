import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { expectHidden } from "../support/expect_hidden.ts";
import { framesOf, readFrames, readToEnd, readUntil } from "../support/servers/feed_reading.ts";
import { LinkedServers } from "../support/servers/linked_servers.ts";

const PAGE = { "index.html": "uploaded" };
const LOUD = {
  settings: { projectType: "static", buildCommand: `bun -e 'console.log(("x".repeat(99) + "\\n").repeat(5000))'` },
};

/** The requests of a promotion that change something in the cloud. */
const STEPS = [
  "POST /api/projects/ensure",
  "PATCH /api/projects/",
  "POST /api/projects/folder/session",
  "POST /api/projects/folder/upload/",
  "POST /api/deployments/build/access",
];

describe("while the cloud of a self-hosted server is killed and started again", () => {
  let servers: LinkedServers;
  beforeAll(async () => {
    servers = await LinkedServers.start();
  });
  afterEach(() => {
    servers.wire.onAnswer = undefined;
  });
  afterAll(() => servers?.[Symbol.asyncDispose]());

  /** Kills the cloud when it has answered such a request, before anybody gets to see the answer. */
  function killAt(wanted: string): void {
    servers.wire.onAnswer = ({ line, client }) => {
      if (!line.startsWith(wanted)) return;
      servers.cloud.program.signal("SIGKILL");
      client.destroy();
    };
  }

  /** Starts the cloud that was killed again. */
  async function restart(): Promise<void> {
    servers.wire.onAnswer = undefined;
    await servers.killCloud();
    await servers.cloud.start();
  }

  const AWAY = { status: 503, body: expect.stringMatching(/"error":"Cannot reach the hosted cloud.*"cloud_away"/) };

  test("a promotion can be repeated after each of its steps, and makes one project", async () => {
    const { home, cloud } = servers;
    const here = await servers.project();
    const upserts = [{ key: "COLOR", value: "blue" }];
    await here.call("PATCH", `/api/projects/${here.id}/env`, { body: { upserts } });
    const uploadSessionId = await servers.upload(PAGE);
    const body = { projectId: here.id, uploadSessionId };
    const before = (await here.call("GET", `/api/projects/${here.id}`)).text;
    for (const step of STEPS) {
      killAt(step);
      const failed = await here.call("POST", "/api/deployments/build/access", { body });
      expect([step, failed.status, failed.body.code]).toEqual([step, 503, "cloud_away"]);
      expect((await here.call("GET", `/api/projects/${here.id}`)).text).toBe(before);
      expect((await here.call("GET", "/api/deployments")).body).toMatchObject({ total: 0 });
      await restart();
    }
    const { id, there } = await servers.deployed(here, { uploadSessionId });
    await here.deployed(id);
    expect(await there.page()).toBe("uploaded");
    expect((await cloud.call("GET", "/api/projects", { token: cloud.owner })).body.total).toBe(1);
    expect((await home.call("GET", "/api/projects", { token: home.owner })).body.data).toMatchObject([
      { id: here.id, location: "cloud" },
    ]);
  });

  test("every request about a deployment there gets a sentence, and lists say what is missing", async () => {
    const of = await servers.promoted(PAGE);
    await of.here.deployed(of.id);
    const { total } = (await of.here.call("GET", "/api/deployments")).body;
    await servers.killCloud();
    for (const path of ["", "/logs", "/stream", "/build"])
      expect([path, await servers.ask("GET", { of, path })]).toMatchObject([path, AWAY]);
    for (const path of ["/redeploy", "/restart"]) expect(await servers.ask("POST", { of, path })).toMatchObject(AWAY);
    expect(await servers.ask("DELETE", { of, path: "" })).toMatchObject(AWAY);
    const list = () => of.here.call("GET", "/api/deployments");
    const missing = { complete: false, error: expect.stringContaining("Cannot reach the hosted cloud") };
    expect((await list()).body).toMatchObject({ data: [], total: 0, cloud: missing });
    await servers.cloud.start();
    expect((await list()).body).toMatchObject({ total, cloud: { complete: true, error: null } });
    expect(await servers.ask("GET", { of, path: "" })).toEqual(await servers.ask("GET", { of, path: "" }, "cloud"));
  });

  test("a log that breaks off does not look complete", async () => {
    const of = await servers.promoted(PAGE, LOUD);
    await of.here.deployed(of.id);
    const { gate } = servers.wire;
    const path = "/logs?limit=10000";
    const json = { of, path, headers: { accept: "application/json" } };
    // Both the first answer and the one to a second attempt break off.
    servers.wire.onAnswer = ({ answer, client }) => answer.length > 100_000 && client.destroy();
    expect(await servers.ask("GET", json)).toMatchObject(AWAY);
    const text = { of, path, headers: { accept: "text/plain" } };
    // Nothing more comes through, of an answer that is several times as long.
    servers.wire.onAnswer = ({ answer }) => answer.length > 100_000 && gate.freeze();
    const reader = (await servers.send("GET", text)).body!.getReader();
    await reader.read();
    await restart();
    servers.wire.last.client.destroy();
    gate.thaw();
    await expect(readToEnd(reader)).rejects.toThrow();
    for (const asked of [json, text])
      expect(await servers.ask("GET", asked)).toEqual(await servers.ask("GET", asked, "cloud"));
  });

  test("a stream breaks off, and goes on where it was", async () => {
    const of = await servers.promoted(PAGE, { request: { start: false } });
    const stream = (since: number) =>
      servers.send("GET", { of, path: "/stream", headers: { "last-event-id": String(since) } });
    const reader = (await stream(0)).body!.getReader();
    const first = framesOf(await readUntil(reader, "queued"));
    await servers.killCloud();
    const rest = await readFrames(reader, Number.POSITIVE_INFINITY).catch(() => []);
    expect(rest).toEqual([]);
    const since = first.at(-1)!.id;
    expect((await stream(since)).status).toBe(503);
    await servers.cloud.start();
    const resumed = (await stream(since)).body!.getReader();
    expect((await servers.ask("POST", { of, path: "/build" })).status).toBe(202);
    const second = framesOf((await readFrames(resumed, Number.POSITIVE_INFINITY)).join("\n\n"));
    const seen = [...first, ...second];
    expect(seen.map(({ id }) => id)).toEqual(seen.map((_, index) => index + 1));
    expect(seen.at(-1)).toMatchObject({ event: "end", data: { status: "ready" } });
  });

  test("a redeployment whose answer is lost is found by repeating it with its idempotency key", async () => {
    const of = await servers.promoted(PAGE);
    await of.here.deployed(of.id);
    const path = `/api/deployments?projectId=${of.here.id}`;
    const asked = { of, path: "/redeploy", body: {}, headers: { "idempotency-key": "the-one-redeployment" } };
    killAt(`POST /api/deployments/${of.id}/redeploy`);
    expect(await servers.ask("POST", asked)).toMatchObject(AWAY);
    await restart();
    const repeated = await servers.ask("POST", asked);
    expect(repeated.status).toBe(202);
    const { data, total } = (await of.here.call("GET", path)).body;
    expect([total, data[0].id]).toEqual([2, JSON.parse(repeated.body).deployment_id]);
  });

  test("nobody is told the token of the link", () => {
    expectHidden([...servers.answers, servers.logs].join("\n"), { "token of the link": servers.linkToken });
  });
});
