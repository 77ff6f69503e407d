import { describe, expect, test } from "bun:test";
import { browser, member } from "../support/apps/app.ts";
import { type DeployingApp, deployingApp } from "../support/apps/deploying_app.ts";
import { BUILD } from "../support/apps/engine_scene.ts";
import { actingAs, onProject } from "../support/apps/linked_cloud.ts";
import { eventually } from "../support/eventually.ts";
import { framesOf, readToEnd, readUntil } from "../support/servers/feed_reading.ts";

/** A deployment whose build runs until it is cancelled. */
async function building(app: DeployingApp): Promise<string> {
  app.world.builder.scripts.set(BUILD, { prints: ["compiling"], hangs: true });
  const id = await app.deploy(await app.project());
  await eventually(
    () => app.world.deployments.get(id),
    (deployment) => deployment!.steps.some(({ name }) => name === "build"),
  );
  return id;
}

describe("GET /api/deployments/:id/stream", () => {
  test("of a finished one replays every event with number and type repeated, and ends", async () => {
    await using app = await deployingApp();
    const id = await app.deployed(await app.project());
    const response = await app.ask(`/${id}/stream`);
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
    const frames = framesOf(await response.text());
    const stored = await app.world.deploymentEvents.read(id, { since: 0, limit: 1_000 });
    expect(frames.map(({ data }) => data)).toEqual(JSON.parse(JSON.stringify(stored)));
    expect(frames.map(({ id: number }) => number)).toEqual(frames.map((_, index) => index + 1));
    for (const { id: number, event, data } of frames) expect([data["seq"], data["type"]]).toEqual([number, event]);
    expect(frames.at(-1)!.data).toMatchObject({ type: "end", status: "ready", decision: null, error: null });
  });

  test("continues after `since` or Last-Event-ID, whichever is larger", async () => {
    await using app = await deployingApp();
    const id = await app.deployed(await app.project());
    const first = async (query: string, lastEventId?: string) => {
      const headers = lastEventId === undefined ? {} : { "last-event-id": lastEventId };
      return framesOf(await (await app.ask(`/${id}/stream${query}`, { headers })).text())[0]?.id;
    };
    expect(await first("")).toBe(1);
    expect(await first("?since=5")).toBe(6);
    expect(await first("", "7")).toBe(8);
    expect(await first("?since=5", "7")).toBe(8);
    expect(await first("?since=9", "7")).toBe(10);
    expect(await first("?since=5", "nonsense")).toBe(6);
    expect((await app.get(`/${id}/stream?since=-1`)).status).toBe(400);
  });

  test("answers 204 after the last event of a finished one", async () => {
    await using app = await deployingApp();
    const id = await app.deployed(await app.project());
    const last = await app.world.deploymentEvents.last(id);
    const response = await app.ask(`/${id}/stream?since=${last}`);
    expect([response.status, await response.text()]).toEqual([204, ""]);
    expect(framesOf(await (await app.ask(`/${id}/stream?since=${last - 1}`)).text())).toHaveLength(1);
  });

  test("of a running one sends events as they happen, and closes after the end", async () => {
    await using app = await deployingApp();
    const id = await building(app);
    const reader = (await app.ask(`/${id}/stream`)).body!.getReader();
    const text = await readUntil(reader, "compiling");
    expect(text).not.toContain("event: end");
    await app.post(`/${id}/cancel`);
    const rest = await readUntil(reader, "event: end");
    expect(rest).toContain('"status":"cancelled"');
    await readToEnd(reader);
  });

  test("of a running one closes after the end, even when resumed after a number that no event has yet", async () => {
    await using app = await deployingApp();
    const id = await building(app);
    const reader = (await app.ask(`/${id}/stream?since=1000000`)).body!.getReader();
    await app.post(`/${id}/cancel`);
    expect(await readUntil(reader, "event: end")).toContain('"status":"cancelled"');
    await readToEnd(reader);
  });

  test("ends after a line that was added after the end of the deployment", async () => {
    await using app = await deployingApp();
    const id = await app.deployed(await app.project());
    const [, line] = await app.world.deploymentEvents.read(id, { since: 0, limit: 2 });
    const last = await app.world.deploymentEvents.append(id, [line!]);
    expect(framesOf(await (await app.ask(`/${id}/stream`)).text()).at(-1)!.id).toBe(last);
    const response = await app.ask(`/${id}/stream?since=${last}`);
    expect(response.status).toBe(204);
  });

  test("leaves no follower when the client disconnects", async () => {
    await using app = await deployingApp();
    const id = await building(app);
    const follow = app.world.deploymentEvents.follow.bind(app.world.deploymentEvents);
    const following = new Set<symbol>();
    app.world.deploymentEvents.follow = async function* (...given) {
      const self = Symbol("follower");
      following.add(self);
      try {
        yield* follow(...given);
      } finally {
        following.delete(self);
      }
    };
    const left = new AbortController();
    const readers = [];
    for (const signal of [undefined, left.signal]) {
      const reader = (await app.ask(`/${id}/stream`, {}, signal)).body!.getReader();
      await readUntil(reader, "compiling");
      void reader.read().catch(() => {});
      readers.push(reader);
    }
    const followers = async () => following.size;
    await eventually(followers, (count) => count === 2);
    await readers[0]!.cancel();
    left.abort();
    await eventually(followers, (count) => count === 0);
    await app.post(`/${id}/cancel`);
  });

  test("a HEAD request starts nothing", async () => {
    await using app = await deployingApp();
    const id = await building(app);
    const request = new Request(`http://slipway.test/api/deployments/${id}/stream`, {
      method: "HEAD",
      headers: { authorization: `Bearer ${app.owner}`, host: "slipway.test" },
    });
    expect((await app.handle(request, "127.0.0.1")).status).toBe(200);
    await app.post(`/${id}/cancel`);
  });
});

test("open feeds end within 5 seconds of revocation, logout, removal, and lost grants", async () => {
  await using app = await deployingApp();
  const id = await building(app);
  const { projectId } = (await app.world.deployments.get(id))!;
  const revoked = await member(app, "viewer");
  const loggedOut = await member(app, "viewer");
  const removed = await member(app, "viewer");
  const grants = [{ resource: "project", id: projectId, action: "read" }];
  const restricted = await member(app, "restricted", { grants });
  const open = async (headers: Record<string, string>) => {
    const request = new Request(`http://slipway.test/api/deployments/${id}/stream`, {
      headers: { host: "slipway.test", ...headers },
    });
    const reader = (await app.handle(request, "127.0.0.1")).body!.getReader();
    await readUntil(reader, "compiling");
    return reader;
  };
  const stays = await open({ authorization: `Bearer ${app.owner}` });
  const ending = await Promise.all([
    open({ authorization: `Bearer ${revoked.token}` }),
    open({ cookie: `slipway_session=${loggedOut.cookie}` }),
    open({ authorization: `Bearer ${removed.token}` }),
    open({ authorization: `Bearer ${restricted.token}` }),
  ]);
  const { call, owner } = app;
  await call("DELETE", `/api/tokens/${revoked.tokenId}`, { token: revoked.token });
  await call("POST", "/api/auth/logout", { ...browser(loggedOut.cookie), body: {} });
  await call("DELETE", `/api/members/${removed.userId}`, { token: owner });
  const other = [{ resource: "project", id: "prj_01m7edka8326kz9mv55sbbg868", action: "read" }];
  await call("PATCH", `/api/members/${restricted.userId}`, { token: owner, body: { grants: other } });
  await Promise.all(ending.map(readToEnd));
  const pending = await Promise.race([stays.read().then(() => "event"), Bun.sleep(50).then(() => "silent")]);
  expect(pending).toBe("silent");
  await app.post(`/${id}/cancel`);
});

test("a stream of a linked installation ends when its token is revoked, and shows a member only what it may see", async () => {
  await using app = await deployingApp({ mode: "cloud" });
  const id = await building(app);
  const { projectId } = (await app.world.deployments.get(id))!;
  const { call, owner } = app;
  const minted = await call("POST", "/api/tokens", { token: owner, body: { name: "link", link: true } });
  const { id: tokenId, token } = minted.body.data as { id: string; token: string };
  const open = async (grants: ReturnType<typeof onProject>) => {
    const headers = { host: "slipway.test", authorization: `Bearer ${token}`, ...actingAs("usr_1", { grants }) };
    const request = new Request(`http://slipway.test/api/deployments/${id}/stream`, { headers });
    return app.handle(request, "127.0.0.1");
  };
  expect((await open(onProject("prj_01m7edka8326kz9mv55sbbg868", "read"))).status).toBe(403);
  const reader = (await open(onProject(projectId, "read"))).body!.getReader();
  await readUntil(reader, "compiling");
  await call("DELETE", `/api/tokens/${tokenId}`, { token: owner });
  await readToEnd(reader);
  await app.post(`/${id}/cancel`);
});
