import { describe, expect, test } from "bun:test";
import type { Deployment } from "../../domain/deployments/deployment.ts";
import { type AdoptedScene, adoptedScene, BROKEN } from "../support/apps/adopted_scene.ts";
import { mortal } from "../support/faults/mortal.ts";
import { eventually } from "../support/eventually.ts";

const LEASE_MS = 10_000;
/** More calls than any of these works makes. */
const MANY = 300;
const AT_ONCE = 20;
const LOOK_MS = 4;

/** Something that a killed process leaves to the next one. */
interface Work {
  readonly name: string;
  /** Prepares the project; resolves to the deployment that it is about, if there is one already. */
  readonly before: (adopted: AdoptedScene) => Promise<string | undefined>;
  /** Requests the work; resolves to the deployment. */
  readonly ask: (adopted: AdoptedScene, id: string | undefined) => Promise<string>;
  readonly isOver: (deployment: Deployment) => boolean;
  /** What runs each service afterwards. */
  readonly runs: Readonly<Record<string, readonly string[]>>;
  readonly resting: readonly string[];
}

async function deploy({ scene, project }: AdoptedScene): Promise<string> {
  return (await scene.deploy(project)).id;
}

async function changeWeb(adopted: AdoptedScene): Promise<undefined> {
  await adopted.setVariable("web/COLOR", "green");
}

async function failPartly(adopted: AdoptedScene): Promise<string> {
  await changeWeb(adopted);
  await adopted.redefine("api", { command: [BROKEN] });
  return (await adopted.deployed()).id;
}

/** Requests a decision, which nobody carries out yet. */
async function decide({ scene }: AdoptedScene, id: string, what: "keep" | "reject"): Promise<string> {
  const { useCases, by } = scene;
  const asked = what === "keep" ? useCases.keepDeployment(by, id) : useCases.rejectDeployment(by, id);
  // It waits for the outcome.
  void asked.catch(() => {});
  await scene.until(id, ({ pendingDecision }) => pendingDecision !== null);
  return id;
}

const WORKS: readonly Work[] = [
  {
    name: "a first deployment that replaces a container",
    before: changeWeb,
    ask: deploy,
    isOver: ({ status }) => status === "ready",
    runs: { web: ["own"], api: ["adopted"], db: ["adopted"] },
    resting: ["web"],
  },
  {
    name: "a first deployment of which nothing comes up",
    async before(adopted) {
      for (const name of ["web", "api", "db"] as const) await adopted.redefine(name, { command: [BROKEN] });
      return undefined;
    },
    ask: deploy,
    isOver: ({ status }) => status === "failed",
    runs: { web: ["adopted"], api: ["adopted"], db: ["adopted"] },
    resting: [],
  },
  {
    name: "rejecting a partial failure of the first deployment",
    before: failPartly,
    ask: (adopted, id) => decide(adopted, id!, "reject"),
    isOver: ({ status }) => status === "rejected",
    runs: { web: ["adopted"], api: ["adopted"], db: ["adopted"] },
    resting: [],
  },
  {
    name: "keeping a partial failure of the first deployment",
    before: failPartly,
    ask: (adopted, id) => decide(adopted, id!, "keep"),
    isOver: ({ pendingDecision, decision }) => pendingDecision === null && decision !== "pending",
    runs: { web: ["own"], api: ["adopted"], db: ["adopted"] },
    resting: ["web"],
  },
  {
    name: "a deployment without a service that was taken over",
    async before(adopted) {
      await adopted.deployed();
      await adopted.redefine("db", "removed");
      return undefined;
    },
    ask: deploy,
    isOver: ({ status }) => status === "ready",
    runs: { web: ["adopted"], api: ["adopted"], db: [] },
    resting: ["db"],
  },
];

/**
 * Kills the process at this call number and lets another one continue. Returns the call, or undefined if it made fewer.
 */
async function killedAt(call: number, when: "before" | "after", work: Work): Promise<string | undefined> {
  await using adopted = await adoptedScene();
  const { scene } = adopted;
  const about = await work.before(adopted);
  await scene.rest();
  scene.memory.clock.advance(1_000);
  const id = await work.ask(adopted, about);
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
  for (const [service, by] of Object.entries(await adopted.running())) {
    // Both at once would share ports and data.
    expect([died, service, by.length]).not.toEqual([died, service, 2]);
  }
  scene.memory.clock.advance(LEASE_MS + 1);
  scene.work();
  await scene.until(id, work.isOver);
  const runs = await eventually(adopted.running, (now) => Bun.deepEquals(now, work.runs)).catch(adopted.running);
  expect([died, runs]).toEqual([died, work.runs as typeof runs]);
  expect([died, adopted.resting()]).toEqual([died, work.resting]);
  return died;
}

describe.each(["before", "after"] as const)("killed right %s any call", (when) => {
  test.each(WORKS)("in the middle of $name, each service runs once afterwards", async (work) => {
    const died: string[] = [];
    for (let call = 1; call < MANY; call += AT_ONCE) {
      const calls = Array.from({ length: AT_ONCE }, (_, index) => call + index);
      const ats = await Promise.all(calls.map((number) => killedAt(number, when, work)));
      died.push(...ats.filter((at) => at !== undefined));
      if (ats.includes(undefined)) break;
    }
    expect(died.length).toBeGreaterThan(3);
    expect(died.length).toBeLessThan(MANY - 2);
  });
});
