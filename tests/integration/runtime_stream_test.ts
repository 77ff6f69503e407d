import { describe, expect, test } from "bun:test";
import { browser, member } from "../support/apps/app.ts";
import { type DeployingApp, deployingApp } from "../support/apps/deploying_app.ts";
import { BUILD, commit, REPOSITORY, SITE, START } from "../support/apps/engine_scene.ts";
import { eventually } from "../support/eventually.ts";
import { framesOf, readToEnd, readUntil } from "../support/servers/feed_reading.ts";

/** A live deployment that has printed two lines; `print` makes it print more. */
async function running(app: DeployingApp, project?: string) {
  app.world.runtime.scripts.set(START, { does: "answers", prints: ["up", "ready"], lastWords: ["bye"] });
  const id = await app.deployed(project ?? (await app.project()));
  const [service] = (await app.world.deployments.get(id))!.services;
  const print = (...messages: string[]) => app.world.runtime.print(service!.instanceId!, ...messages);
  return { id, print };
}

const messages = (text: string) => framesOf(text).map(({ data }) => data["message"]);

describe("GET /api/deployments/:id/stream?kind=runtime", () => {
  test("sends the printed lines, as in the log, and each new line as it is printed", async () => {
    await using app = await deployingApp();
    const { id, print } = await running(app);
    const response = await app.ask(`/${id}/stream?kind=runtime`);
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
    const reader = response.body!.getReader();
    const first = await readUntil(reader, "ready");
    print("one", "two");
    print("three");
    const frames = framesOf(first + (await readUntil(reader, "three")));
    const { data } = (await app.get(`/${id}/logs?kind=runtime`)).body;
    expect(frames.map((frame) => frame.data)).toEqual(data.map((line: object) => ({ type: "log", ...line })));
    expect(frames.map(({ id: number, event }) => [number, event])).toEqual([1, 2, 3, 4, 5].map((seq) => [seq, "log"]));
    await reader.cancel();
  });

  test("continues after `since` or Last-Event-ID, whichever is larger, without a gap or a repeated line", async () => {
    await using app = await deployingApp();
    const { id, print } = await running(app);
    print("one", "two", "three");
    const after = async (query: string, lastEventId?: string) => {
      const headers = lastEventId === undefined ? {} : { "last-event-id": lastEventId };
      const reader = (await app.ask(`/${id}/stream?kind=runtime${query}`, { headers })).body!.getReader();
      const seen = messages(await readUntil(reader, "three"));
      await reader.cancel();
      return seen;
    };
    expect(await after("")).toEqual(["up", "ready", "one", "two", "three"]);
    expect(await after("&since=2")).toEqual(["one", "two", "three"]);
    expect(await after("&since=2", "3")).toEqual(["two", "three"]);
    expect(await after("&since=4", "3")).toEqual(["three"]);
    expect((await app.get(`/${id}/stream?kind=runtime&since=x`)).status).toBe(400);
    expect((await app.get(`/${id}/stream?kind=other`)).status).toBe(400);
  });

  test("masks secrets as the log does", async () => {
    await using app = await deployingApp();
    const project = await app.project();
    const upserts = [{ key: "PASS", value: "hunter2hunter2", secret: true }];
    await app.call("PATCH", `/api/projects/${project}/env`, { token: app.owner, body: { upserts } });
    const { id, print } = await running(app, project);
    const reader = (await app.ask(`/${id}/stream?kind=runtime&since=2`)).body!.getReader();
    print("it is hunter2hunter2", "over");
    const text = await readUntil(reader, "over");
    expect(text).not.toContain("hunter2");
    const { data } = (await app.get(`/${id}/logs?kind=runtime&since=2`)).body;
    expect(messages(text)[0]).toBe(data[0].message);
    await reader.cancel();
  });

  test("of one that is replaced sends its last lines and ends, with the number of the last line", async () => {
    await using app = await deployingApp();
    const project = await app.project();
    const { id } = await running(app, project);
    const reader = (await app.ask(`/${id}/stream?kind=runtime&since=1`)).body!.getReader();
    const first = await readUntil(reader, "ready");
    await app.deployed(project);
    const frames = framesOf(first + (await readUntil(reader, "event: end")));
    await readToEnd(reader);
    expect(frames.map(({ id: seq, data }) => [seq, data["message"]])).toEqual([
      [2, "ready"],
      [3, "bye"],
      [3, undefined],
    ]);
    expect(frames.at(-1)!.data).toEqual({ type: "end", seq: 3, status: "ready", decision: null, error: null });
    expect((await app.ask(`/${id}/stream?kind=runtime`, { headers: { "last-event-id": "3" } })).status).toBe(204);
    const replayed = framesOf(await (await app.ask(`/${id}/stream?kind=runtime`)).text());
    expect(replayed.map(({ event }) => event)).toEqual(["log", "log", "log", "end"]);
  });

  test("answers 204 when nothing ran or will run", async () => {
    await using app = await deployingApp();
    app.world.builder.scripts.set(BUILD, { exitCode: 1 });
    const failed = await app.deployed(await app.project());
    expect((await app.get(`/${failed}`)).body.data.status).toBe("failed");
    expect((await app.ask(`/${failed}/stream?kind=runtime`)).status).toBe(204);
    app.world.builder.scripts.delete(BUILD);
    const { id } = await running(app);
    expect((await app.ask(`/${id}/stream?kind=runtime&service=other`)).status).toBe(400);
    app.world.sources.known.git[REPOSITORY] = { commits: [commit("b2", SITE)] };
    const site = await app.deployed(await app.project());
    expect((await app.get(`/${site}`)).body.data.active).toBe(true);
    expect((await app.ask(`/${site}/stream?kind=runtime`)).status).toBe(204);
    const missing = "/dep_01m7edka8326kz9mv55sbbg868/stream?kind=runtime";
    expect((await app.get(missing)).status).toBe(404);
  });

  test("of one that is not built yet waits for its output", async () => {
    await using app = await deployingApp();
    app.world.runtime.scripts.set(START, { does: "answers", prints: ["up"] });
    const id = await app.deploy(await app.project(), { start: false });
    const reader = (await app.ask(`/${id}/stream?kind=runtime`)).body!.getReader();
    await app.post(`/${id}/build`);
    expect(messages(await readUntil(reader, "up"))).toEqual(["up"]);
    await reader.cancel();
  });

  test("ends within 5 seconds of revocation, logout and removal, and when the deployment is deleted", async () => {
    await using app = await deployingApp();
    const { id } = await running(app);
    const [revoked, loggedOut, removed] = [
      await member(app, "viewer"),
      await member(app, "viewer"),
      await member(app, "viewer"),
    ];
    const open = async (headers: Record<string, string>) => {
      const request = new Request(`http://slipway.test/api/deployments/${id}/stream?kind=runtime`, {
        headers: { host: "slipway.test", ...headers },
      });
      const reader = (await app.handle(request, "127.0.0.1")).body!.getReader();
      await readUntil(reader, "ready");
      return reader;
    };
    const stays = await open({ authorization: `Bearer ${app.owner}` });
    const ending = [
      await open({ authorization: `Bearer ${revoked.token}` }),
      await open({ cookie: `slipway_session=${loggedOut.cookie}` }),
      await open({ authorization: `Bearer ${removed.token}` }),
    ];
    const { call, owner } = app;
    await call("DELETE", `/api/tokens/${revoked.tokenId}`, { token: revoked.token });
    await call("POST", "/api/auth/logout", { ...browser(loggedOut.cookie), body: {} });
    await call("DELETE", `/api/members/${removed.userId}`, { token: owner });
    await Promise.all(ending.map(readToEnd));
    await call("DELETE", `/api/deployments/${id}`, { token: owner });
    await readToEnd(stays);
  });

  test("reads lines once for all followers, and stops after they have left", async () => {
    await using app = await deployingApp();
    const { id, print } = await running(app);
    const output = app.world.runtime.output.bind(app.world.runtime);
    let looks = 0;
    app.world.runtime.output = (...given) => {
      looks++;
      return output(...given);
    };
    const left = new AbortController();
    const all = Array.from({ length: 20 }, () => app.ask(`/${id}/stream?kind=runtime`, {}, left.signal));
    const readers = (await Promise.all(all)).map(({ body }) => body!.getReader());
    for (const reader of readers) await readUntil(reader, "ready");
    const opened = looks;
    for (let line = 1; line <= 4; line++) {
      print(`line ${line}`);
      await Promise.all(readers.map((reader) => readUntil(reader, `line ${line}`)));
    }
    // Separate readers would have polled at least once per line each.
    expect(looks - opened).toBeLessThan(4 * 20);
    await Promise.all(readers.slice(1).map((reader) => reader.cancel()));
    left.abort();
    const quiet = async () => {
      const before = looks;
      await Bun.sleep(2_500);
      return looks - before;
    };
    await eventually(quiet, (count) => count === 0);
  });

  test("a HEAD request starts nothing", async () => {
    await using app = await deployingApp();
    const { id } = await running(app);
    const request = new Request(`http://slipway.test/api/deployments/${id}/stream?kind=runtime`, {
      method: "HEAD",
      headers: { authorization: `Bearer ${app.owner}`, host: "slipway.test" },
    });
    expect((await app.handle(request, "127.0.0.1")).status).toBe(200);
  });
});
