import { describe, expect, test } from "bun:test";
import { MemoryLog } from "../../adapters/memory/log.ts";
import { memoryWorld } from "../../adapters/memory/memory_world.ts";
import { recordedRuntime } from "../../application/services/recorded_runtime.ts";
import { lineBytes } from "../../domain/deployments/output_tail.ts";
import { Failure } from "../../domain/failure.ts";
import type { Runtime } from "../../ports/services/runtime.ts";
import { failing } from "../support/faults/failing.ts";
import { intercepted } from "../support/faults/intercepted.ts";
import { aDeployment } from "../support/database/store_builders.ts";

const GRACE = { graceMs: 0 };
const LINES = Array.from({ length: 12_345 }, (_, index) => `line ${index + 1}`);

/** A deployment whose service `web` prints lines, and a runtime that records them. */
async function scene({ maxBytes = 10_000_000, wrap = (runtime: Runtime) => runtime } = {}) {
  const world = { ...memoryWorld(), log: new MemoryLog() };
  const { id: deploymentId, projectId } = await aDeployment(world);
  const { runtime: inner, runtimeLogs } = world;
  inner.scripts.set("serve", { does: "answers", prints: LINES, lastWords: ["bye"] });
  const runtime = recordedRuntime(wrap(inner), world, { maxBytes });
  const owner = { deploymentId, service: "web" };
  const instanceId = `${deploymentId}-web-1`;
  return {
    ...world,
    inner,
    runtime,
    instanceId,
    owner,
    start: () =>
      runtime.start({
        ...owner,
        instanceId,
        projectId,
        scope: projectId,
        runs: { kind: "folder", folder: "/x", workingFolder: "/x", command: "serve" },
        environment: new Map(),
      }),
    stored: async () => (await runtimeLogs.read(owner, { since: 0, limit: 100_000 })).map(({ message }) => message),
    warnings: () => world.log.lines.filter(({ level }) => level === "warn").map(({ text }) => text),
  };
}

describe("recordedRuntime()", () => {
  test("records all pages of an instance's output, and removes the original only then", async () => {
    const { instanceId, inner, runtime, start, stored } = await scene();
    await start();
    const seen: boolean[] = [];
    await runtime.remove(instanceId, {
      ...GRACE,
      beforeForgetting: async () => void seen.push((await stored()).length > 0, !!(await inner.find(instanceId))),
    });
    expect(seen).toEqual([true, true]);
    expect(await stored()).toEqual([...LINES, "bye"]);
    expect(await inner.find(instanceId)).toBeUndefined();
  });

  test("records the last bytes up to the limit, after a line that says how much was left out", async () => {
    const { instanceId, runtime, runtimeLogs, owner, start } = await scene({ maxBytes: 3 * lineBytes("line 12345") });
    await start();
    await runtime.remove(instanceId, GRACE);
    const lines = await runtimeLogs.read(owner, { since: 0, limit: 10 });
    expect(lines.map(({ seq, message }) => [seq, message])).toEqual([
      [12_343, expect.stringMatching(/^\[12343 lines of output left out \(/)],
      [12_344, "line 12344"],
      [12_345, "line 12345"],
      [12_346, "bye"],
    ]);
  });

  test("resumes after a server that was killed between the record and the removal, without duplicates", async () => {
    const { instanceId, inner, runtime, start, stored } = await scene();
    await start();
    const killed = new Error("Killed");
    const removed = runtime.remove(instanceId, { ...GRACE, beforeForgetting: () => Promise.reject(killed) });
    await expect(removed).rejects.toBe(killed);
    expect(await inner.find(instanceId)).toBeDefined();
    await runtime.remove(instanceId, GRACE);
    expect(await stored()).toEqual([...LINES, "bye"]);
  });

  test("keeps the output of an instance when one with the same id is started", async () => {
    const { instanceId, runtime, start, stored } = await scene();
    const life = [...LINES, "bye"];
    for (let time = 0; time < 3; time++) {
      await start();
      await runtime.remove(instanceId, GRACE);
    }
    expect(await stored()).toEqual([...life, ...life, ...life]);
  });

  test("keeps what another server has recorded, when that one removed the instance first", async () => {
    const others: (() => Promise<void>)[] = [];
    const { instanceId, inner, runtime, runtimeLogs, owner, start, stored } = await scene({
      wrap: (plain) =>
        intercepted(plain, "output", async (goOn) => {
          const page = await goOn();
          await others.pop()?.();
          return page;
        }),
    });
    others.push(async () => {
      const lines = await inner.output(instanceId, { since: 0, limit: 100_000 });
      await runtimeLogs.append(owner, { instanceId, lines, leftOut: null }, { maxBytes: 10_000_000 });
      await inner.remove(instanceId);
    });
    await start();
    await runtime.remove(instanceId, GRACE);
    expect(await stored()).toEqual([...LINES, "bye"]);
  });

  test.each(["output", "find"] as const)("removes an instance even if %s fails, and logs that", async (method) => {
    const error = new Failure("unavailable", "engine_away", "Cannot use Docker");
    const { instanceId, inner, runtime, start, stored, warnings } = await scene({
      wrap: (plain) => failing(plain, method, { error }),
    });
    await start();
    await runtime.remove(instanceId, GRACE);
    expect(await inner.find(instanceId)).toBeUndefined();
    expect(await stored()).toEqual([]);
    expect(warnings()).toEqual([expect.stringContaining("Cannot use Docker")]);
  });

  test("passes on why an instance could not be removed, and logs nothing else", async () => {
    const error = new Failure("unavailable", "engine_away", "Cannot use Docker");
    const { instanceId, runtime, start, warnings } = await scene({
      wrap: (plain) => failing(failing(plain, "find", { error }), "remove", { error }),
    });
    await start();
    await expect(runtime.remove(instanceId, GRACE)).rejects.toBe(error);
    expect(warnings()).toEqual([]);
  });

  test("finishes what is being recorded when it is disposed, and removes nothing from then on", async () => {
    const { promise: held, resolve: goOn } = Promise.withResolvers<void>();
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    const { instanceId, inner, runtime, start, stored } = await scene({
      wrap: (plain) =>
        intercepted(plain, "output", async (read) => {
          begin();
          await held;
          return read();
        }),
    });
    await start();
    const removing = runtime.remove(instanceId, GRACE);
    await begun;
    const disposing = runtime[Symbol.asyncDispose]().then(stored);
    goOn();
    expect(await disposing).toEqual([...LINES, "bye"]);
    await removing;
    expect(await inner.find(instanceId)).toBeUndefined();
    await start();
    await expect(runtime.remove(instanceId, GRACE)).rejects.toMatchObject({ kind: "unavailable" });
    expect(await inner.find(instanceId)).toMatchObject({ status: "exited", exit: { reason: "stopped" } });
  });

  test("starts an instance even if its log could not be sealed", async () => {
    const world = { ...memoryWorld(), log: new MemoryLog() };
    const ports = { ...world, runtimeLogs: failing(world.runtimeLogs, "seal") };
    const started = await recordedRuntime(world.runtime, ports).start({
      instanceId: "dep_1-web-1",
      deploymentId: "dep_1",
      projectId: "prj_1",
      service: "web",
      scope: "prj_1",
      runs: { kind: "folder", folder: "/x", workingFolder: "/x", command: "serve" },
      environment: new Map(),
    });
    expect(started.status).toBe("running");
    await world.runtime.remove(started.instanceId);
  });
});
