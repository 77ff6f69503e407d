import { expect, test } from "bun:test";
import { Failure } from "../../domain/failure.ts";
import type { World } from "../../ports/world.ts";
import { EngineScene } from "../support/apps/engine_scene.ts";
import { intercepted } from "../support/faults/intercepted.ts";

const AWAY = new Failure("unavailable", "database_away", "Cannot reach the database: the connection broke");

type Call = readonly [port: keyof World, method: string];

const CALLS: readonly Call[] = [
  ["deployments", "change"],
  ["deployments", "environment"],
  ["deploymentEvents", "append"],
  ["projects", "find"],
  ["liveReleases", "activate"],
  ["liveReleases", "find"],
  ["liveReleases", "among"],
  ["liveReleases", "announce"],
  ["deploymentQueue", "take"],
  ["deploymentQueue", "renew"],
  ["deploymentQueue", "release"],
];

/** A scene whose database is unavailable for `times` calls from call number `at` on. */
function openWith([port, method]: Call, { at, times, error }: { at: number; times: number; error: Error }) {
  let count = 0;
  const state = { armed: false };
  const opening = EngineScene.open({
    replace: (world) => ({
      [port]: intercepted(world[port] as object, method as never, (goOn) => {
        if (!state.armed || ++count < at || count >= at + times) return goOn();
        return Promise.reject(error);
      }),
    }),
  });
  return { opening, state, hit: () => count >= at };
}

async function expectHeldUp(call: Call, at: number): Promise<void> {
  const { opening, state } = openWith(call, { at, times: 2, error: AWAY });
  await using scene = await opening;
  const project = await scene.project();
  const { id } = await scene.deploy(project, { start: false });
  state.armed = true;
  await scene.memory.deployments.change(id, (deployment) => ({
    deployment: { ...deployment, held: false },
    events: [],
  }));
  const ended = await scene.settled(id);
  expect([call, at, ended.status, ended.error]).toEqual([call, at, "ready", null]);
  expect(scene.served(project)).toBe(id);
  expect((await scene.events(id)).filter(({ type }) => type === "end")).toHaveLength(1);
  state.armed = false;
  expect((await scene.deployed(project)).status).toBe("ready");
}

// Concurrently, because each mostly waits.
test("a database outage at any call delays a deployment and does not fail it", async () => {
  await Promise.all(CALLS.flatMap((call) => [1, 2, 6, 12].map((at) => expectHeldUp(call, at))));
});

test("a bug in the middle fails the deployment with a reason, and the next one runs", async () => {
  const outcomes = [2, 4, 6, 9, 12].map(async (at) => {
    const { opening, state } = openWith(["deployments", "change"], { at, times: 1, error: new Error("a bug") });
    await using scene = await opening;
    const project = await scene.project();
    state.armed = true;
    const { id } = await scene.deploy(project);
    const ended = await scene.settled(id);
    state.armed = false;
    expect((await scene.deployed(project)).status).toBe("ready");
    return [at, ended.status, ended.error?.code];
  });
  expect(await Promise.all(outcomes)).toEqual([2, 4, 6, 9, 12].map((at) => [at, "failed", "internal"]));
});
