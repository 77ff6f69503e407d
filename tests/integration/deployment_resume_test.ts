import { describe, expect, test } from "bun:test";
import { isSettled } from "../../domain/deployments/transitions.ts";
import { APP, EngineScene, REPOSITORY, SITE } from "../support/apps/engine_scene.ts";
import { mortal } from "../support/faults/mortal.ts";

const LEASE_MS = 10_000;
/** More calls than any deployment makes. */
const MANY = 200;
const AT_ONCE = 25;

interface Killing {
  readonly when: "before" | "after";
  readonly what: "app" | "site" | "upload";
  readonly replaces: boolean;
}

/**
 * Kills the process at this call number and lets another one continue. Returns the call, or undefined if it made fewer.
 */
async function killedAt(call: number, { when, what, replaces }: Killing): Promise<string | undefined> {
  await using scene = await EngineScene.open();
  if (what === "site")
    scene.known.git[REPOSITORY] = { commits: [{ sha: "1", message: "m", branches: ["main"], files: SITE }] };
  const project = await scene.project({ gitUrl: REPOSITORY });
  const former = replaces ? await scene.deployed(project) : undefined;
  await scene.rest();
  const request = what === "upload" ? { uploadSessionId: await scene.upload(APP) } : {};
  const { id } = await scene.deploy(project, request);
  const process = mortal(scene.world, { call, when });
  scene.doomed(process.world);
  for (;;) {
    if (process.isDead()) break;
    const deployment = (await scene.memory.deployments.get(id))!;
    // After the end, only the queue makes calls.
    if (isSettled(deployment) && process.calls.at(-1) === "deploymentQueue.take") return undefined;
    await Bun.sleep(1);
  }
  await Bun.sleep(2);
  const died = `${call}: ${when} ${process.calls.at(-1)}`;
  const served = scene.served(project);
  const instances = await scene.running();
  // The release that serves visitors still runs.
  if (former) expect([died, served === former.id || served === id]).toEqual([died, true]);
  if (former && what !== "site") expect([died, instances.includes(served!)]).toEqual([died, true]);
  scene.memory.clock.advance(LEASE_MS + 1);
  scene.work();
  const ended = await scene.settled(id);
  expect([died, ended.status, ended.error]).toEqual([died, "ready", null]);
  expect([died, scene.served(project)]).toEqual([died, id]);
  const own = (await scene.running()).filter((deploymentId) => deploymentId === id);
  expect([died, own.length]).toEqual([died, what === "site" ? 0 : 1]);
  expect([died, await scene.uploads()]).toEqual([died, []]);
  const kept = await Array.fromAsync(scene.memory.keptSources.list());
  expect([died, kept]).toEqual([died, what === "upload" ? [id] : []]);
  const ends = (await scene.events(id)).filter(({ type }) => type === "end");
  expect([died, ends.length]).toEqual([died, 1]);
  return died;
}

describe.each([
  { when: "before", what: "app", replaces: true },
  { when: "after", what: "app", replaces: true },
  { when: "after", what: "app", replaces: false },
  { when: "after", what: "site", replaces: true },
  { when: "after", what: "upload", replaces: false },
] as const)("killed right $when any call, deploying an $what (replacing one: $replaces)", (killing) => {
  test("the next process brings it live, once, and the live release keeps serving", async () => {
    const died: string[] = [];
    for (let call = 1; call < MANY; call += AT_ONCE) {
      const calls = Array.from({ length: AT_ONCE }, (_, index) => call + index);
      const ats = await Promise.all(calls.map((number) => killedAt(number, killing)));
      died.push(...ats.filter((at) => at !== undefined));
      if (ats.includes(undefined)) break;
    }
    expect(died.length).toBeGreaterThan(15);
    expect(died.length).toBeLessThan(MANY - 2);
  });
});

test("a server that is stopped in the middle leaves it to the next, which logs that", async () => {
  await using scene = await EngineScene.open();
  scene.scriptBuild({ hangs: true });
  const { id } = await scene.deploy(await scene.project());
  await scene.inStep(id, "build");
  await scene.rest();
  expect(await scene.memory.deployments.get(id)).toMatchObject({ status: "building" });
  scene.memory.builder.scripts.clear();
  scene.work();
  expect(await scene.settled(id)).toMatchObject({ status: "ready", attempts: 2 });
  expect(await scene.log(id)).toContain("The server was restarted during the deployment: continuing");
});

test("a deployment that repeatedly ends with its server fails, with the reason", async () => {
  await using scene = await EngineScene.open();
  scene.scriptBuild({ hangs: true });
  const project = await scene.project();
  const { id } = await scene.deploy(project);
  for (let count = 1; count <= 4; count++) {
    await scene.until(id, ({ attempts }) => attempts === count);
    await scene.inStep(id, "build");
    await scene.rest();
    scene.work();
  }
  expect(await scene.settled(id)).toMatchObject({ status: "failed", error: { code: "interrupted" } });
  expect(await scene.folders()).toEqual([]);
});
