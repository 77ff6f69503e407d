import { describe, expect, test } from "bun:test";
import type { Deployment } from "../../domain/deployments/deployment.ts";
import { isSettled } from "../../domain/deployments/transitions.ts";
import { APP, EngineScene, REPOSITORY, SITE } from "../support/apps/engine_scene.ts";
import { eventually } from "../support/eventually.ts";
import { shopProject, shopScene } from "../support/apps/service_scene.ts";
import { SHOP_WORKS } from "../support/apps/shop_works.ts";
import { decisiveCalls, sleeper } from "../support/faults/sleeper.ts";

// Each test runs a deployment hundreds of times.
const LEASE_MS = 10_000;
const AT_ONCE = 25;
const LOOK_MS = 4;

/** Work in which a process falls asleep. */
interface Work {
  readonly name: string;
  readonly open: () => Promise<EngineScene>;
  /** Sets up the scene. Resolves to a function that requests the work and resolves to the deployment's id. */
  readonly prepare: (scene: EngineScene) => Promise<() => Promise<string>>;
  /** Runs once the process has started. */
  readonly meanwhile?: (scene: EngineScene, id: string) => Promise<void>;
  /** Changes something while the process sleeps. */
  readonly asleep?: (scene: EngineScene) => void;
  readonly isOver: (deployment: Deployment) => boolean;
}

const SIMPLE = { open: () => EngineScene.open(), isOver: isSettled };

const WORKS: readonly Work[] = [
  {
    ...SIMPLE,
    name: "an app that replaces another",
    async prepare(scene) {
      const project = await scene.project();
      await scene.deployed(project);
      return async () => (await scene.deploy(project)).id;
    },
  },
  {
    ...SIMPLE,
    name: "an app that fails first and succeeds on retry",
    async prepare(scene) {
      const project = await scene.project();
      await scene.deployed(project);
      scene.healthy = () => false;
      return async () => (await scene.deploy(project)).id;
    },
    asleep: (scene) => (scene.healthy = () => true),
  },
  {
    ...SIMPLE,
    name: "a build that fails first and succeeds on retry",
    async prepare(scene) {
      const project = await scene.project({ gitUrl: REPOSITORY, runtime: "docker" });
      scene.memory.imageBuilder.otherwise = { fails: { step: "RUN false", exitCode: 1 } };
      return async () => (await scene.deploy(project)).id;
    },
    asleep: ({ memory }) => (memory.imageBuilder.otherwise = { port: 3000 }),
  },
  {
    ...SIMPLE,
    name: "an app that is cancelled",
    async prepare(scene) {
      const project = await scene.project();
      await scene.deployed(project);
      scene.healthy = () => false;
      return async () => (await scene.deploy(project)).id;
    },
    async meanwhile(scene, id) {
      await scene.until(id, ({ steps }) => steps.some(({ name }) => name === "health"));
      void scene.useCases.cancelDeployment(scene.by, id).catch(() => {});
    },
  },
  {
    ...SIMPLE,
    name: "an upload",
    async prepare(scene) {
      const project = await scene.project({});
      const uploadSessionId = await scene.upload(APP);
      return async () => (await scene.deploy(project, { uploadSessionId })).id;
    },
  },
  {
    ...SIMPLE,
    name: "a preview of a site",
    async prepare(scene) {
      scene.known.git[REPOSITORY] = { commits: [{ sha: "1", message: "m", branches: ["main"], files: SITE }] };
      const project = await scene.project();
      for (let count = 0; count < 3; count++) await scene.deployed(project, { environment: "preview" });
      return async () => (await scene.deploy(project, { environment: "preview" })).id;
    },
  },
  ...SHOP_WORKS.map((work): Work => ({
    name: `${work.name} of a shop`,
    open: () => shopScene(),
    isOver: work.isOver,
    async prepare(scene) {
      const project = await shopProject(scene);
      const about = await work.before(scene, project);
      return () => work.ask(scene, project, about);
    },
  })),
];

/**
 * Puts the process to sleep after this call number while another one continues. Returns the call, or undefined if the
 * process made fewer.
 */
async function sleptAt(call: number, work: Work): Promise<string | undefined> {
  await using scene = await work.open();
  const ask = await work.prepare(scene);
  await scene.rest();
  scene.memory.clock.advance(1_000);
  const id = await ask();
  const process = sleeper(scene.world, call);
  scene.doomed(process.world);
  const begun = work.meanwhile?.(scene, id);
  while (!process.isAsleep()) {
    const deployment = (await scene.memory.deployments.get(id))!;
    if (work.isOver(deployment) && process.calls.includes("deploymentQueue.release")) return undefined;
    await Bun.sleep(LOOK_MS);
  }
  // Its pending calls complete while it sleeps.
  await Bun.sleep(2);
  const slept = `${call}: ${process.calls.at(-1)}`;
  const taken = (await scene.memory.deployments.get(id))!.attempts;
  work.asleep?.(scene);
  scene.memory.clock.advance(LEASE_MS + 1);
  scene.work();
  const ended = await scene.until(id, work.isOver);
  process.wake();
  await begun;
  if (ended.attempts === taken) return slept;
  await scene.rest();
  const before = await stored(scene, ended);
  const released = () => process.calls.slice(call).includes("deploymentQueue.release");
  // If it had taken nothing yet, it has not started.
  if (taken > 0) expect([slept, await eventually(async () => released(), Boolean)]).toEqual([slept, true]);
  await Bun.sleep(2);
  expect([slept, process.effects]).toEqual([slept, []]);
  expect([slept, await stored(scene, ended)]).toEqual([slept, before]);
  return slept;
}

/** All stored data of a deployment and its project. */
async function stored({ memory }: EngineScene, { id, organizationId, projectId }: Deployment) {
  return {
    project: await memory.projects.find(organizationId, projectId),
    deployments: await memory.deployments.ofProject(projectId),
    serviceSet: await memory.serviceSets.read(id),
    events: await memory.deploymentEvents.read(id, { since: 0, limit: 10_000 }),
  };
}

/** The calls that a process makes for a work. */
async function callsOf(work: Work): Promise<readonly string[]> {
  await using scene = await work.open();
  const ask = await work.prepare(scene);
  await scene.rest();
  scene.memory.clock.advance(1_000);
  const id = await ask();
  const process = sleeper(scene.world, Infinity);
  scene.doomed(process.world);
  const begun = work.meanwhile?.(scene, id);
  const isReleased = () => process.calls.includes("deploymentQueue.release");
  await scene.until(id, (deployment) => work.isOver(deployment) && isReleased());
  await begun;
  return process.calls;
}

describe("a process that is paused past its lease", () => {
  test.each(WORKS)("after any call, in the middle of $name, changes nothing any more", async (work) => {
    const points = decisiveCalls(await callsOf(work));
    expect(points.length).toBeGreaterThan(8);
    const slept: string[] = [];
    for (let start = 0; start < points.length; start += AT_ONCE) {
      const some = points.slice(start, start + AT_ONCE);
      const ats = await Promise.all(some.map((call) => sleptAt(call, work)));
      slept.push(...ats.filter((at) => at !== undefined));
    }
    // Work on several services takes turns that differ, and so may make fewer calls.
    expect(slept.length).toBeGreaterThan(points.length / 2);
  });
});
