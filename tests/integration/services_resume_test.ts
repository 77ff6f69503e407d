import { expect, test } from "bun:test";
import type { Project } from "../../domain/projects/project.ts";
import type { EngineScene } from "../support/apps/engine_scene.ts";
import { mortal } from "../support/faults/mortal.ts";
import { type ShopWork, SHOP_WORKS } from "../support/apps/shop_works.ts";
import {
  deployShop,
  SHOP,
  shopProject,
  shopScene,
  runningServices,
  statuses,
  type Versions,
  versions,
} from "../support/apps/service_scene.ts";

const LEASE_MS = 10_000;
/** More calls than any of these works makes. */
const MANY = 300;
const AT_ONCE = 25;
const LOOK_MS = 4;

/**
 * Kills the process at this call number and lets another one continue. Returns the call, or undefined if it made fewer.
 */
async function killedAt(call: number, when: "before" | "after", work: ShopWork): Promise<string | undefined> {
  await using scene = await shopScene();
  const project = await shopProject(scene);
  const about = await work.before(scene, project);
  const former = await runningServices(scene, project);
  await scene.rest();
  scene.memory.clock.advance(1_000);
  const id = await work.ask(scene, project, about);
  const process = mortal(scene.world, { call, when });
  scene.doomed(process.world);
  for (;;) {
    if (process.isDead()) break;
    const deployment = (await scene.memory.deployments.get(id))!;
    if (work.isOver(deployment) && process.calls.at(-1) === "deploymentQueue.take") return undefined;
    await Bun.sleep(LOOK_MS);
  }
  await Bun.sleep(2);
  const died = `${call}: ${when} ${process.calls.at(-1)}`;
  await expectVisitorsServed(scene, project, died, Object.keys(former).length > 0);
  scene.memory.clock.advance(LEASE_MS + 1);
  scene.work();
  const ended = await scene.until(id, work.isOver);
  expect([died, ended.status]).toEqual([died, work.status]);
  expect([died, await versions(scene, project)]).toMatchObject([died, lasting(work.runs)]);
  const after = await runningServices(scene, project);
  // Unchanged services still have the same container.
  if (about || Object.keys(former).length > 0)
    expect([died, after["web"], after["db"]]).toEqual([died, former["web"]!, former["db"]!]);
  await expectVisitorsServed(scene, project, died, true);
  const ends = (await scene.events(id)).filter(({ type }) => type === "end");
  expect([died, ends.length]).toEqual([died, work.ends]);
  expect([died, Object.values(statuses(ended)).includes("starting")]).toEqual([died, false]);
  // The next deployment succeeds.
  if (work.status !== "partial_failure")
    expect([died, (await deployShop(scene, project, SHOP)).status]).toEqual([died, "ready"]);
  return died;
}

/** Leaves out migrations, which do not run again on a reject. */
function lasting(all: Versions): Versions {
  return Object.fromEntries(Object.entries(all).filter(([name]) => name !== "migrate"));
}

/** Expects that the instances that visitors are routed to are running. */
async function expectVisitorsServed(
  scene: EngineScene,
  project: Project,
  died: string,
  isServed: boolean,
): Promise<void> {
  for (const path of ["/", "/api/orders"]) {
    const route = scene.memory.edge.routeOf(`${project.slug}.localhost`, path);
    if (!isServed && !route) continue;
    const instance = route && (await scene.memory.runtime.find(route.servedBy));
    expect([died, path, instance?.status]).toEqual([died, path, "running"]);
  }
}

async function expectResumed(work: ShopWork, when: "before" | "after"): Promise<void> {
  const died: string[] = [];
  for (let call = 1; call < MANY; call += AT_ONCE) {
    const calls = Array.from({ length: AT_ONCE }, (_, index) => call + index);
    const ats = await Promise.all(calls.map((number) => killedAt(number, when, work)));
    died.push(...ats.filter((at) => at !== undefined));
    if (ats.includes(undefined)) break;
  }
  expect(died.length).toBeGreaterThan(3);
  expect(died.length).toBeLessThan(MANY - 2);
}

test.each(SHOP_WORKS)("killed right after any call of $name, the next process completes it correctly", (work) =>
  expectResumed(work, "after"),
);

// Before one call is the same as after the former one, except where several services are worked on at once.
test.each(SHOP_WORKS.filter(({ name }) => ["a first deployment", "reject"].includes(name)))(
  "killed right before any call of $name, the next process completes it correctly",
  (work) => expectResumed(work, "before"),
);
