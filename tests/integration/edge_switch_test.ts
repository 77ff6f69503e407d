import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { EdgeRoute } from "../../ports/domains/edge.ts";
import { eventually } from "../support/eventually.ts";
import { at, runningEdge, type RunningEdge } from "../support/servers/running_edge.ts";

const SWITCHES = 30;

interface Answered {
  /** Counted at the start and the end of a request, by one counter. */
  readonly began: number;
  readonly ended: number;
  readonly version: number;
}

let edge: RunningEdge;
beforeEach(() => {
  edge = runningEdge();
});
afterEach(() => edge[Symbol.asyncDispose]());

/** A small server that responds with its version, sometimes with a delay. Stopping it breaks running requests. */
function release(version: number) {
  let count = 0;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const body = await request.text();
      if (count++ % 7 === 0) await Bun.sleep(5);
      return new Response(`${version}:${body}`);
    },
  });
  return server;
}

function routeTo(hostname: string, servedBy: string, port: number | undefined): EdgeRoute {
  return { hostname, pathPrefix: "/", projectId: "prj_a", servedBy, target: at(port) };
}

/** Sends one request after the other until stopped, and records every response. */
async function askOn(ask: () => Promise<Response>, answered: Answered[], going: { on: boolean; count: number }) {
  while (going.on) {
    const began = going.count++;
    const answer = await ask();
    const [version, body] = (await answer.text()).split(":");
    if (answer.status !== 200 || body !== "body") throw new Error(`${answer.status} after ${answered.length} answers`);
    answered.push({ began, ended: going.count++, version: Number(version) });
  }
}

describe("EdgeServer switches", () => {
  test("to the same app again, over a new connection once the app has closed the former ones", async () => {
    const open = new Set<Bun.Socket>();
    using app = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        open: (socket) => void open.add(socket),
        close: (socket) => void open.delete(socket),
        data: (socket) => void socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
      },
    });
    await using impatient = runningEdge({ limits: { answerMs: 1_000 } });
    await impatient.put("a.test", at(app.port));
    expect((await impatient.ask("a.test")).status).toBe(200);
    await impatient.put("a.test", at(app.port));
    expect(open.size).toBe(1);
    for (const socket of open) socket.end();
    await eventually(
      async () => open.size,
      (size) => size === 0,
    );
    expect((await impatient.ask("a.test")).status).toBe(200);
  });

  test("under load without a failed request, and never back to the old release", async () => {
    const going = { on: true, count: 0 };
    const answered: Answered[] = [];
    let current = release(0);
    await edge.put("a.test", at(current.port), "dep_0");
    const init = { method: "POST", body: "body" };
    const fresh = { ...init, headers: { connection: "close" }, keepalive: false };
    const asking = Array.from({ length: 12 }, (_, index) =>
      askOn(() => edge.ask("a.test", "/", index % 3 === 0 ? fresh : init), answered, going),
    );
    const load = Promise.all(asking);
    for (let version = 1; version <= SWITCHES; version++) {
      const before = answered.length;
      while (answered.length < before + 30) await Promise.race([load, Bun.sleep(1)]);
      const next = release(version);
      await edge.put("a.test", at(next.port), `dep_${version}`);
      await edge.edge.drained(`dep_${version - 1}`, 10_000);
      await current.stop(true);
      current = next;
    }
    going.on = false;
    await load;
    await current.stop(true);
    expect(new Set(answered.map(({ version }) => version)).size).toBe(SWITCHES + 1);
    const firstEnd = new Map<number, number>();
    for (const { version, ended } of answered) firstEnd.set(version, Math.min(firstEnd.get(version) ?? ended, ended));
    const late = answered.filter(({ version, began }) => began > (firstEnd.get(version + 1) ?? Infinity));
    expect(late).toEqual([]);
  });

  test("so that later requests go to the new release, on kept connections too", async () => {
    const releases = [release(0), release(1)];
    await edge.put("a.test", at(releases[0]?.port));
    for (let count = 0; count < 20; count++) {
      const next = releases[(count + 1) % 2];
      await edge.put("a.test", at(next?.port));
      expect(await (await edge.ask("a.test", "/", { method: "POST", body: "x" })).text()).toBe(`${(count + 1) % 2}:x`);
    }
    for (const one of releases) await one.stop(true);
  });

  test("between an app and a folder", async () => {
    const app = release(1);
    await edge.put("a.test", at(app.port));
    expect(await (await edge.ask("a.test")).text()).toBe("1:");
    await edge.put("a.test", { kind: "folder", path: import.meta.dir });
    expect((await edge.ask("a.test", "/edge_switch_test.ts")).status).toBe(200);
    await edge.put("a.test", at(app.port));
    expect(await (await edge.ask("a.test")).text()).toBe("1:");
    await app.stop(true);
  });

  test("load() replaces everything, by the owners that later switches use", async () => {
    const apps = [release(1), release(2)];
    await edge.put("old.test", at(apps[0]?.port));
    const preview = { ...routeTo("preview.test", "dep_2", apps[1]?.port), projectId: "dep_2" };
    edge.edge.load([{ ...routeTo("a.test", "dep_1", apps[0]?.port), projectId: "prj_a" }, preview]);
    expect((await edge.ask("old.test")).status).toBe(404);
    await edge.edge.switch("prj_a", []);
    expect((await edge.ask("a.test")).status).toBe(404);
    expect(await (await edge.ask("preview.test")).text()).toBe("2:");
    await edge.edge.switch("dep_2", []);
    expect((await edge.ask("preview.test")).status).toBe(404);
    for (const app of apps) await app.stop(true);
  });
});
