import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ContainerUsage } from "../../../adapters/docker/containers/container_usage.ts";
import type { ContainerRecord } from "../../../adapters/docker/engine/containers.ts";
import { EngineApi } from "../../../adapters/docker/engine/engine_api.ts";

const STARTED = "2026-03-01T10:00:00.000Z";

/** Measures containers of a fake engine, whose clock shows `readAt`. */
async function usageOf(readAt: () => Date) {
  const folder = await mkdtemp(join(tmpdir(), "slipway-"));
  const server = Bun.serve({
    unix: join(folder, "engine.sock"),
    fetch: () =>
      Response.json({
        read: readAt().toISOString(),
        cpu_stats: { cpu_usage: { total_usage: 1_000 } },
        memory_stats: { usage: 4_096 },
      }),
  });
  const usage = new ContainerUsage(new EngineApi(`unix://${join(folder, "engine.sock")}`));
  const dispose = async () => {
    await server.stop(true);
    await rm(folder, { recursive: true });
  };
  return { usage, [Symbol.asyncDispose]: dispose };
}

function running(id: string): ContainerRecord {
  const state = { Status: "running", StartedAt: STARTED };
  return { Id: id, State: state, HostConfig: { Memory: 0 } } as unknown as ContainerRecord;
}

test("measure() keeps no samples of containers that are not measured any more", async () => {
  let readAt = new Date(Date.now() - 60_000);
  await using scene = await usageOf(() => readAt);
  for (const id of ["one", "two", "three"]) {
    expect(await scene.usage.measure(running(id))).toMatchObject({ memoryBytes: 4_096 });
  }
  readAt = new Date(Date.now() + 60_000);
  await scene.usage.measure(running("four"));
  await scene.usage.measure(running("five"));
  expect(scene.usage.sampled).toBe(2);
});
