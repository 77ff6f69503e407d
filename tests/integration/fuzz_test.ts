import { expect, test } from "bun:test";
import { memoryApp } from "../support/apps/app.ts";
import { MACHINE } from "../support/apps/furnished.ts";
import { fuzzRoutes } from "../support/inputs/fuzz_routes.ts";

const SEED = 20_260_131;

test(`no route fails, omits the error body or leaks a secret for random input (seed ${SEED})`, async () => {
  const { handle, routes, owner, world } = await memoryApp();
  world.remoteHosts.add(MACHINE);
  await fuzzRoutes({ handle, routes, owner, world }, { seed: SEED, runs: 60 });
  expect(world.log.lines.filter(({ level }) => level === "error")).toEqual([]);
  expect(world.log.lines.length).toBeGreaterThan(60 * routes.length);
});
