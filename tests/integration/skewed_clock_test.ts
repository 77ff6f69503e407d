import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { MemoryLog } from "../../adapters/memory/log.ts";
import { memoryWorld } from "../../adapters/memory/memory_world.ts";
import type { Hold } from "../../application/deployments/engine/hold.ts";
import { startWorker } from "../../application/deployments/engine/worker.ts";
import { buildApplication } from "../../wiring/build_application.ts";
import type { Deployment } from "../../domain/deployments/deployment.ts";
import { caller, member, SETTINGS } from "../support/apps/app.ts";
import { eventually } from "../support/eventually.ts";
import { migratedDatabase, openStores, vaultOf } from "../support/database/postgres_stores.ts";
import { query } from "../support/database/query.ts";
import { aDeployment } from "../support/database/store_builders.ts";
import { file, tarGz } from "../support/inputs/tar_archive.ts";

const HOUR = 3_600_000;

/** Three servers on one database: one with the right clock, one an hour ahead, one an hour behind. */
async function threeServers() {
  await using opened = new AsyncDisposableStack();
  const { url } = opened.use(await migratedDatabase());
  const vault = await vaultOf();
  // They also share the upload storage.
  const { uploadFiles } = memoryWorld();
  const open = async (aheadMs: number) => {
    const { [Symbol.asyncDispose]: _, ...stores } = opened.use(await openStores({ url, vault }));
    const clock = { now: () => new Date(Date.now() + aheadMs) };
    const world = { ...memoryWorld(), ...stores, clock, uploadFiles, log: new MemoryLog() };
    const { handle, routes, useCases } = buildApplication(world, SETTINGS);
    return { world, useCases, call: caller(handle, routes) };
  };
  const [right, ahead, behind] = [await open(0), await open(HOUR), await open(-HOUR)];
  const { shownToken } = await right.useCases.claimInstallation(undefined);
  const lifetime = opened.move();
  return { url, right, ahead, behind, owner: shownToken!, [Symbol.asyncDispose]: () => lifetime.disposeAsync() };
}

describe("a server whose clock is an hour off", () => {
  let servers: Awaited<ReturnType<typeof threeServers>>;
  beforeAll(async () => {
    servers = await threeServers();
  });
  afterAll(() => servers?.[Symbol.asyncDispose]());

  test.each(["right", "ahead", "behind"] as const)(
    "neither takes a deployment that another one runs nor loses its own, when the clock of the worker is %s",
    async (holder) => {
      const { right, ahead, behind, url } = servers;
      const runs: { readonly by: string; readonly hold: Hold }[] = [];
      const { promise: over, resolve: end } = Promise.withResolvers<void>();
      const run = (by: string) => async (deployment: Deployment, hold: Hold) => {
        runs.push({ by, hold });
        const { world } = servers.right;
        await world.deployments.change(deployment.id, (stored) => ({
          deployment: { ...stored, status: "building" },
          events: [],
        }));
        await over;
        await world.deployments.change(deployment.id, (stored) => ({
          deployment: { ...stored, status: "cancelled" },
          events: [],
        }));
      };
      const first = startWorker(servers[holder].world, { run: run(holder), maxBuilds: 9 });
      const { id } = await aDeployment(right.world, { queuedAt: new Date(), createdAt: new Date() });
      await eventually(
        async () => runs.length,
        (count) => count > 0,
      );
      const others = Object.entries({ right, ahead, behind }).filter(([name]) => name !== holder);
      const workers = others.map(([name, { world }]) => startWorker(world, { run: run(name), maxBuilds: 9 }));
      // Renewed twice, while the others poll all the time.
      const until = async () =>
        (await query(url, `select lease_until from deployments where id = '${id}'`))[0]!["lease_until"] as Date;
      for (let renewals = 0; renewals < 2; renewals++) {
        const before = await until();
        expect(await eventually(until, (now) => now > before)).not.toEqual(before);
      }
      expect(runs.map(({ by, hold }) => [by, hold.signal.aborted])).toEqual([[holder, false]]);
      expect(await right.world.deployments.get(id)).toMatchObject({ attempts: 1 });
      end();
      await Promise.all([first, ...workers].map((worker) => worker.stop()));
    },
  );

  test("counts failed logins with the others", async () => {
    const { right, ahead, behind, owner } = servers;
    const { email } = await member({ ...right, owner }, "viewer");
    const guess = (server: typeof right) =>
      server.call("POST", "/api/auth/login", { body: { email, password: "wrong" } });
    for (const server of [ahead, behind, right, ahead, behind, right, ahead, behind, right, ahead]) {
      expect((await guess(server)).status).toBe(401);
    }
    for (const server of [right, ahead, behind]) {
      const refused = await guess(server);
      expect(refused.status).toBe(429);
      expect(Number(refused.headers.get("retry-after"))).toBeLessThanOrEqual(60);
    }
  });

  test("accepts uploads of sessions that others opened, and keeps them until they expire", async () => {
    const { right, ahead, behind, owner: token } = servers;
    const raw = tarGz([file("package.json", "{}")]);
    for (const [opens, receives, scans] of [
      [ahead, behind, right],
      [behind, ahead, ahead],
      [right, behind, ahead],
    ] as const) {
      const { sessionId } = (await opens.call("POST", "/api/projects/folder/session", { token, body: {} })).body;
      for (const { useCases } of [right, ahead, behind]) await useCases.sweepUploads();
      expect((await receives.call("POST", `/api/projects/folder/upload/${sessionId}`, { token, raw })).status).toBe(
        200,
      );
      for (const { useCases } of [right, ahead, behind]) await useCases.sweepUploads();
      expect((await scans.call("POST", `/api/projects/folder/scan/${sessionId}`, { token })).status).toBe(200);
    }
  });

  test("waits for the response to a request that another one handles, and replays it", async () => {
    const { right, ahead, behind } = servers;
    for (const [first, second] of [
      [right, ahead],
      [behind, ahead],
      [ahead, behind],
    ] as const) {
      const { signal } = new AbortController();
      const request = { caller: "c", key: crypto.randomUUID(), route: "POST /", body: "b", signal };
      const { promise: gate, resolve: letGo } = Promise.withResolvers<void>();
      const begun = Promise.withResolvers<void>();
      const answered = first.useCases.answerOnce(request, async () => {
        begun.resolve();
        await gate;
        return { answer: "first", kept: { status: 200, body: "first" } };
      });
      await begun.promise;
      const ran: string[] = [];
      const repeated = second.useCases.answerOnce(request, async () => {
        ran.push("second");
        return { answer: "second", kept: { status: 200, body: "second" } };
      });
      await Bun.sleep(200);
      for (const { useCases } of [right, ahead, behind]) await useCases.sweep();
      letGo();
      expect(await answered).toEqual({ replayed: false, answer: "first" });
      expect(await repeated).toEqual({ replayed: true, answer: { status: 200, body: "first" } });
      expect(ran).toEqual([]);
    }
  });
});
