import { describe, expect, test } from "bun:test";
import { restoreReleases, reviveReleases } from "../../../application/deployments/restore_releases.ts";
import { eventually } from "../../support/eventually.ts";
import { type AdoptedScene, adoptedScene, BROKEN, JOB } from "../../support/apps/adopted_scene.ts";
import { statuses } from "../../support/apps/service_scene.ts";

const AS_ADOPTED = { web: ["adopted"], api: ["adopted"], db: ["adopted"] };
const UNCHANGED = { web: "unchanged", api: "unchanged", db: "unchanged" };

/** Expects that each service is run by exactly this, a little later. */
async function expectRunning({ running }: AdoptedScene, expected: object): Promise<void> {
  const found = await eventually(running, (now) => Bun.deepEquals(now, expected)).catch(running);
  expect(found).toEqual(expected as typeof found);
}

/** How the job of a deployment is shown to have ended. */
const exitOfJob = async ({ scene }: AdoptedScene, id: string) =>
  (await scene.useCases.describeInstances(scene.by, id)).instances.find(({ service }) => service === JOB)?.exit;

/** A scene whose first deployment has replaced `web`, failed to replace `api`, and waits for a decision. */
async function partlyFailed() {
  const adopted = await adoptedScene();
  await adopted.setVariable("web/COLOR", "green");
  await adopted.redefine("api", { command: [BROKEN] });
  const deployment = await adopted.deployed();
  expect(deployment.status).toBe("partial_failure");
  expect(statuses(deployment)).toEqual({ web: "healthy", api: "failed", db: "unchanged" });
  return { adopted, deployment };
}

describe("the first deployment of an adopted project", () => {
  test("keeps the containers of unchanged services, and starts nothing", async () => {
    await using adopted = await adoptedScene();
    const first = await adopted.deployed();
    expect([first.status, statuses(first)]).toEqual(["ready", UNCHANGED]);
    expect(statuses(await adopted.deployed())).toEqual(UNCHANGED);
    expect(adopted.scene.memory.runtime.started).toEqual([]);
    await expectRunning(adopted, AS_ADOPTED);
    expect(adopted.resting()).toEqual([]);
  });

  test("replaces a service whose variable was changed, and makes its container stay stopped", async () => {
    await using adopted = await adoptedScene();
    await adopted.setVariable("web/COLOR", "green");
    expect(statuses(await adopted.deployed())).toEqual({ ...UNCHANGED, web: "healthy" });
    await expectRunning(adopted, { ...AS_ADOPTED, web: ["own"] });
    expect(adopted.resting()).toEqual(["web"]);
  });

  test("starts the container of a service again if nothing came up", async () => {
    await using adopted = await adoptedScene();
    for (const name of ["web", "api", "db"] as const) await adopted.redefine(name, { command: [BROKEN] });
    expect((await adopted.deployed()).status).toBe("failed");
    await expectRunning(adopted, AS_ADOPTED);
    expect(adopted.resting()).toEqual([]);
  });

  test("leaves the container of a service alone that the project no longer has", async () => {
    await using adopted = await adoptedScene();
    await adopted.redefine("db", "removed");
    expect(statuses(await adopted.deployed())).toEqual({ web: "unchanged", api: "unchanged" });
    await expectRunning(adopted, AS_ADOPTED);
  });

  test("replaces a container that does not run", async () => {
    await using adopted = await adoptedScene();
    const { runtime } = adopted.scene.memory;
    runtime.putOutside({ id: "1".repeat(64), image: "web:1", isUp: false });
    expect(statuses(await adopted.deployed())).toEqual({ ...UNCHANGED, web: "healthy" });
    await expectRunning(adopted, { ...AS_ADOPTED, web: ["own"] });
  });
});

describe("an adopted job that ran to its end", () => {
  const WITH_JOB = { ...AS_ADOPTED, [JOB]: [] };
  const ALL_UNCHANGED = { ...UNCHANGED, [JOB]: "unchanged" };

  test("is left alone by the first deployment and later ones, by a restart and by a rollback", async () => {
    await using adopted = await adoptedScene({ hasJob: true });
    const { by, memory, useCases } = adopted.scene;
    const first = await adopted.deployed();
    expect([first.status, statuses(first)]).toEqual(["ready", ALL_UNCHANGED]);
    expect(await exitOfJob(adopted, first.id)).toEqual({ code: 0, reason: "exited" });
    expect((await useCases.restartInstances(by, first.id)).restarted).toBe(3);
    await adopted.setVariable("web/COLOR", "green");
    expect(statuses(await adopted.deployed())).toEqual({ ...ALL_UNCHANGED, web: "healthy" });
    memory.clock.advance(1_000);
    const back = await adopted.scene.settled((await useCases.rollback(by, first.id)).id);
    expect([back.status, statuses(back)[JOB]]).toEqual(["ready", "unchanged"]);
    expect(memory.runtime.started.map(({ service }) => service)).toEqual(["web", "web"]);
    await expectRunning(adopted, { ...WITH_JOB, web: ["own"] });
  });

  test("is not missed while the release is live", async () => {
    await using adopted = await adoptedScene({ hasJob: true });
    const { services } = await adopted.deployed();
    const { memory, world } = adopted.scene;
    const announced: (string | null)[] = [];
    memory.liveReleases.onChange(async (key) => void announced.push(key));
    const revive = reviveReleases(world, restoreReleases(world));
    await revive();
    expect(announced).toEqual([]);
    await memory.runtime.stop(services.find(({ name }) => name === "web")!.instanceId!);
    await revive();
    expect(announced).toEqual([adopted.project.id]);
    await expectRunning(adopted, WITH_JOB);
    expect(memory.runtime.started).toEqual([]);
  });

  test.each([
    ["variable", (adopted: AdoptedScene) => adopted.setVariable(`${JOB}/COLOR`, "green")],
    ["definition", (adopted: AdoptedScene) => adopted.redefine(JOB, { command: ["migrate", "--all"] })],
  ])("runs anew, once and in a container of its own, if its %s was changed", async (_, change) => {
    await using adopted = await adoptedScene({ hasJob: true });
    const { runtime } = adopted.scene.memory;
    await change(adopted);
    expect(statuses(await adopted.deployed())).toEqual({ ...UNCHANGED, [JOB]: "done" });
    expect(runtime.started).toMatchObject([{ service: JOB, oneShot: true }]);
    expect(adopted.resting()).toEqual([JOB]);
    expect(statuses(await adopted.deployed())).toEqual(ALL_UNCHANGED);
    expect(runtime.started).toHaveLength(1);
    await expectRunning(adopted, WITH_JOB);
  });

  test("is not run in place of its new version that failed", async () => {
    await using adopted = await adoptedScene({ hasJob: true });
    const { by, memory, useCases } = adopted.scene;
    await adopted.redefine(JOB, { command: [BROKEN] });
    const held = await adopted.deployed();
    expect([held.status, statuses(held)]).toEqual(["partial_failure", { ...UNCHANGED, [JOB]: "failed" }]);
    await useCases.rejectDeployment(by, held.id);
    await adopted.scene.until(held.id, ({ status }) => status === "rejected");
    await expectRunning(adopted, WITH_JOB);
    expect(memory.runtime.started).toHaveLength(1);
    await adopted.redefine(JOB, { command: ["repaired"] });
    expect(statuses(await adopted.deployed())).toEqual({ ...UNCHANGED, [JOB]: "done" });
  });

  test("is not run when nothing of the first deployment came up", async () => {
    await using adopted = await adoptedScene({ hasJob: true });
    for (const name of ["web", "api", "db"] as const) await adopted.redefine(name, { command: [BROKEN] });
    expect((await adopted.deployed()).status).toBe("failed");
    await expectRunning(adopted, WITH_JOB);
  });

  test("becomes a service that is started if its definition says that it is no one-shot", async () => {
    await using adopted = await adoptedScene({ hasJob: true });
    await adopted.redefine(JOB, { oneShot: false });
    expect(statuses(await adopted.deployed())).toEqual({ ...UNCHANGED, [JOB]: "healthy" });
    await expectRunning(adopted, { ...AS_ADOPTED, [JOB]: ["own"] });
  });

  test("stays on the server when its project is deleted", async () => {
    await using adopted = await adoptedScene({ hasJob: true });
    const { by, memory, useCases } = adopted.scene;
    const { services } = await adopted.deployed();
    await useCases.removeProject(by, adopted.project.id);
    expect(await memory.runtime.find(services.find(({ name }) => name === JOB)!.instanceId!)).toBeDefined();
    await expectRunning(adopted, WITH_JOB);
  });
});

describe("a stopped container that was adopted as a service", () => {
  test("runs anew if its definition says now that it is a one-shot", async () => {
    await using adopted = await adoptedScene();
    const { runtime } = adopted.scene.memory;
    runtime.putOutside({ id: "1".repeat(64), image: "web:1", isUp: false });
    await adopted.redefine("web", { oneShot: true });
    expect(statuses(await adopted.deployed())).toEqual({ ...UNCHANGED, web: "done" });
    expect(runtime.started).toMatchObject([{ service: "web", oneShot: true }]);
  });
});

describe("a partial failure of the first deployment", () => {
  test("that is rejected leaves every adopted container running, and nothing else", async () => {
    const { adopted, deployment } = await partlyFailed();
    await using _ = adopted;
    expect(adopted.resting()).toEqual([]);
    await adopted.scene.useCases.rejectDeployment(adopted.scene.by, deployment.id);
    await adopted.scene.until(deployment.id, ({ status }) => status === "rejected");
    await expectRunning(adopted, AS_ADOPTED);
    expect(adopted.resting()).toEqual([]);
    expect(statuses(await adopted.deployed())).toMatchObject({ web: "healthy", db: "unchanged" });
  });

  test("that is kept remembers which container still runs, for the next deployment", async () => {
    const { adopted, deployment } = await partlyFailed();
    await using _ = adopted;
    await adopted.scene.useCases.keepDeployment(adopted.scene.by, deployment.id);
    await adopted.scene.until(
      deployment.id,
      ({ pendingDecision, decision }) => !pendingDecision && decision !== "pending",
    );
    await expectRunning(adopted, { web: ["own"], api: ["adopted"], db: ["adopted"] });
    expect(adopted.resting()).toEqual(["web"]);
    await adopted.redefine("api", { command: ["repaired"] });
    expect(statuses(await adopted.deployed())).toEqual({ web: "unchanged", api: "healthy", db: "unchanged" });
    await expectRunning(adopted, { web: ["own"], api: ["own"], db: ["adopted"] });
    expect(adopted.resting()).toEqual(["web", "api"]);
  });
});

describe("a project that has taken its containers over", () => {
  test("stops the container of a service that it no longer has, also for when its engine starts", async () => {
    await using adopted = await adoptedScene();
    await adopted.deployed();
    await adopted.redefine("db", "removed");
    expect(statuses(await adopted.deployed())).toEqual({ web: "unchanged", api: "unchanged" });
    await expectRunning(adopted, { ...AS_ADOPTED, db: [] });
    expect(adopted.resting()).toEqual(["db"]);
  });

  test("goes back to its first release by another replacement", async () => {
    await using adopted = await adoptedScene();
    const first = await adopted.deployed();
    await adopted.setVariable("web/COLOR", "green");
    await adopted.deployed();
    adopted.scene.memory.clock.advance(1_000);
    const back = await adopted.scene.useCases.rollback(adopted.scene.by, first.id);
    expect((await adopted.scene.settled(back.id)).status).toBe("ready");
    const { started } = adopted.scene.memory.runtime;
    expect(started.map(({ environment }) => environment.get("COLOR")?.reveal())).toEqual(["green", "blue"]);
    expect(adopted.resting()).toEqual(["web"]);
  });

  test("leaves its containers running when it is deleted", async () => {
    await using adopted = await adoptedScene();
    await adopted.setVariable("web/COLOR", "green");
    await adopted.deployed();
    await adopted.scene.useCases.removeProject(adopted.scene.by, adopted.project.id, { volumes: true });
    await expectRunning(adopted, { ...AS_ADOPTED, web: [] });
  });

  test("gets a stopped container started again, and nothing is announced while all of them run", async () => {
    await using adopted = await adoptedScene();
    const { services } = await adopted.deployed();
    const { memory, world } = adopted.scene;
    const announced: (string | null)[] = [];
    memory.liveReleases.onChange(async (key) => void announced.push(key));
    const revive = reviveReleases(world, restoreReleases(world));
    await revive();
    expect(announced).toEqual([]);
    await memory.runtime.stop(services.find(({ name }) => name === "api")!.instanceId!);
    await expectRunning(adopted, { ...AS_ADOPTED, api: [] });
    await revive();
    await expectRunning(adopted, AS_ADOPTED);
    expect(announced).toEqual([adopted.project.id]);
  });

  test.each([
    ["a preview", { environment: "preview" }],
    ["services of its own", { services: [{ name: "web", image: "web:1" }] }],
  ] as const)("refuses a deployment with %s", async (_, request) => {
    await using adopted = await adoptedScene();
    const refused = await adopted.scene.deploy(adopted.project, request).catch((error: unknown) => error);
    expect(refused).toMatchObject({ kind: "invalid", code: "project_adopted" });
  });
});
