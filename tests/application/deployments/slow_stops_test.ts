import { describe, expect, test } from "bun:test";
import { restartInstances } from "../../../application/services/instances_of.ts";
import { removeDeployment } from "../../../application/deployments/remove_deployment.ts";
import { removeProject } from "../../../application/projects/remove_project.ts";
import type { Deployment } from "../../../domain/deployments/deployment.ts";
import type { Failure } from "../../../domain/failure.ts";
import type { Project } from "../../../domain/projects/project.ts";
import type { EngineScene } from "../../support/apps/engine_scene.ts";
import { eventually } from "../../support/eventually.ts";
import { gatedRuntime } from "../../support/faults/gated_runtime.ts";
import { intercepted } from "../../support/faults/intercepted.ts";
import { shop, shopProject, shopScene } from "../../support/apps/service_scene.ts";

/** The number of long-running services of a shop: all but the one-shot one. */
const LASTING = 4;
const ALL = 5;

/** The time limit of a response expires at once, before anything that a test keeps from stopping. */
const LATE = { answerMs: 1 };

async function liveShop(scene: EngineScene): Promise<{ readonly project: Project; readonly live: Deployment }> {
  const project = await shopProject(scene);
  const services = shop({ web: "1", api: "1", worker: "1", migrate: "1", db: "1" });
  const live = await scene.deployed(project, { services });
  expect(live.status).toBe("ready");
  return { project, live };
}

function failureOf(work: Promise<unknown>): Promise<Failure> {
  return work.then(
    () => expect.unreachable("It did not fail"),
    (error: Failure) => error,
  );
}

async function restarts(scene: EngineScene): Promise<number[]> {
  const lasting = (await scene.memory.runtime.list()).filter(({ service }) => service !== "migrate");
  return lasting.map((instance) => instance.restarts);
}

describe("restartInstances()", () => {
  test("restarts all services in parallel", async () => {
    await using scene = await shopScene();
    const { live } = await liveShop(scene);
    const gated = gatedRuntime(scene.world.runtime, "restart");
    const restarting = restartInstances({ ...scene.world, ...gated })(scene.by, live.id);
    await gated.stoppingAtOnce(LASTING);
    expect(await restarts(scene)).toEqual([0, 0, 0, 0]);
    gated.open();
    expect(await restarting).toEqual({ restarted: LASTING, variablesChanged: false });
    expect(await restarts(scene)).toEqual([1, 1, 1, 1]);
  });

  test("asks to retry when it takes too long, and continues; a repeated request waits for the same restart", async () => {
    await using scene = await shopScene();
    const { live } = await liveShop(scene);
    const gated = gatedRuntime(scene.world.runtime, "restart");
    const restart = restartInstances({ ...scene.world, ...gated, ...LATE });
    for (let attempt = 0; attempt < 2; attempt++) {
      const { kind, code, retryAfter } = await failureOf(restart(scene.by, live.id));
      expect({ kind, code, retryAfter }).toEqual({
        kind: "unavailable",
        code: "restart_takes_long",
        retryAfter: expect.any(Number),
      });
    }
    await gated.stoppingAtOnce(LASTING);
    gated.open();
    const times = await eventually(
      () => restarts(scene),
      (all) => all.every((count) => count > 0),
    );
    expect(times).toEqual([1, 1, 1, 1]);
  });

  test("restarts the others when one fails, and says why", async () => {
    await using scene = await shopScene();
    const { live } = await liveShop(scene);
    const gated = gatedRuntime(scene.world.runtime, "restart");
    gated.stuck.add(live.services.find(({ name }) => name === "web")!.instanceId!);
    gated.open();
    const failure = await failureOf(restartInstances({ ...scene.world, ...gated })(scene.by, live.id));
    expect(failure.code).toBe("process_stuck");
    expect((await restarts(scene)).toSorted()).toEqual([0, 1, 1, 1]);
  });
});

describe("removeDeployment()", () => {
  test("stops all services in parallel, after their requests have drained", async () => {
    await using scene = await shopScene();
    const { project, live } = await liveShop(scene);
    const gated = gatedRuntime(scene.world.runtime, "remove");
    const removing = removeDeployment({ ...scene.world, ...gated })(scene.by, live.id);
    await gated.stoppingAtOnce(ALL);
    expect(scene.served(project)).toBeUndefined();
    gated.open();
    await removing;
    expect([await scene.running(), await scene.folders()]).toEqual([[], []]);
  });

  test("asks to retry when it takes too long, and continues in the background", async () => {
    await using scene = await shopScene();
    const { live } = await liveShop(scene);
    const gated = gatedRuntime(scene.world.runtime, "remove");
    const failure = await failureOf(removeDeployment({ ...scene.world, ...gated, ...LATE })(scene.by, live.id));
    expect([failure.kind, failure.code]).toEqual(["unavailable", "removal_takes_long"]);
    expect(await scene.memory.deployments.get(live.id)).toBeUndefined();
    gated.open();
    await eventually(
      () => scene.folders(),
      (left) => left.length === 0,
    );
    expect(await scene.running()).toEqual([]);
  });

  test("logs failures after the response", async () => {
    await using scene = await shopScene();
    const { live } = await liveShop(scene);
    const gated = gatedRuntime(scene.world.runtime, "remove");
    gated.stuck.add(live.services.find(({ name }) => name === "web")!.instanceId!);
    await failureOf(removeDeployment({ ...scene.world, ...gated, ...LATE })(scene.by, live.id));
    gated.open();
    const lines = await eventually(
      async () => scene.memory.log.lines.filter(({ text }) => text.includes("Could not finish what a request started")),
      ({ length }) => length > 0,
    );
    expect(lines).toEqual([{ level: "warn", text: expect.stringContaining("Cannot stop a program") }]);
  });
});

describe("removeProject()", () => {
  test("stops everything in parallel and waits until no edge leads to it", async () => {
    await using scene = await shopScene();
    const { project, live } = await liveShop(scene);
    const wanted = { services: shop({ db: "1" }), publicEndpoints: [], environment: "preview" } as const;
    const preview = await scene.deployed(project, wanted);
    const gated = gatedRuntime(scene.world.runtime, "remove");
    const [notified, edgeGate] = [new Set<string | null>(), Promise.withResolvers<void>()];
    const forget = scene.memory.liveReleases.onChange((key) => {
      notified.add(key);
      return edgeGate.promise;
    });
    let isOver = false;
    const removing = removeProject({ ...scene.world, ...gated })(scene.by, project.id).finally(() => (isOver = true));
    await gated.stoppingAtOnce(ALL + 1);
    gated.open();
    await eventually(
      () => scene.running(),
      (left) => left.length === 0,
    );
    expect(scene.served(project)).toBeUndefined();
    expect(notified).toEqual(new Set([project.id, preview.id]));
    expect(isOver).toBe(false);
    edgeGate.resolve();
    await removing;
    forget();
    expect(await scene.memory.deployments.get(live.id)).toBeUndefined();
  });

  test("ends running deployments first, so that nothing comes up afterwards", async () => {
    await using scene = await shopScene();
    const { project } = await liveShop(scene);
    const started = Promise.withResolvers<void>();
    scene.memory.runtime.scripts.set("service:web", {
      does: "answers",
      health: () => {
        started.resolve();
        return "starting";
      },
    });
    const services = shop({ web: "2", api: "2" }).map((service) => ({ ...service, dependsOn: [] }));
    const [next, waiting] = [await scene.deploy(project, { services }), await scene.deploy(project, { services })];
    await started.promise;
    await scene.useCases.removeProject(scene.by, project.id);
    expect(await scene.running()).toEqual([]);
    expect(scene.served(project)).toBeUndefined();
    for (const { id } of [next, waiting]) expect(await scene.memory.deployments.get(id)).toBeUndefined();
    await scene.rest();
    expect([await scene.running(), scene.served(project)]).toEqual([[], undefined]);
  });

  test("asks to retry when it takes too long, and continues; a repeated request waits for the same removal", async () => {
    await using scene = await shopScene();
    const { project } = await liveShop(scene);
    const gate = Promise.withResolvers<void>();
    const deploymentQueue = intercepted(scene.memory.deploymentQueue, "isTaken", async (goOn) => {
      await gate.promise;
      return goOn();
    });
    const remove = removeProject({ ...scene.world, deploymentQueue, ...LATE });
    for (let attempt = 0; attempt < 2; attempt++) {
      const failure = await failureOf(remove(scene.by, project.id));
      expect([failure.kind, failure.code]).toEqual(["unavailable", "removal_takes_long"]);
    }
    expect(await scene.memory.projects.find(project.organizationId, project.id)).toBeDefined();
    gate.resolve();
    await eventually(
      () => scene.running(),
      (left) => left.length === 0,
    );
    expect((await failureOf(remove(scene.by, project.id))).code).toBe("project_not_found");
    expect(scene.memory.log.lines.filter(({ level }) => level === "warn")).toEqual([]);
  });

  test("fails for a second caller as for a project that does not exist", async () => {
    await using scene = await shopScene();
    const { project } = await liveShop(scene);
    await scene.useCases.removeProject(scene.by, project.id);
    expect((await failureOf(scene.useCases.removeProject(scene.by, project.id))).code).toBe("project_not_found");
  });
});
