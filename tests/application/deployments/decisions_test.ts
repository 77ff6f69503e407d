import { describe, expect, test } from "bun:test";
import { Failure } from "../../../domain/failure.ts";
import { eventSummary } from "../../support/apps/engine_scene.ts";
import {
  deployShop,
  SHOP,
  shop,
  shopProject,
  shopScene,
  runningServices,
  statuses,
  versions,
} from "../../support/apps/service_scene.ts";
import { eventually } from "../../support/eventually.ts";

describe("a deployment with a service that does not come up", () => {
  test("waits for a decision: what came up serves, what failed is on its former version", async () => {
    await using scene = await shopScene();
    const project = await shopProject(scene);
    const first = await deployShop(scene, project, SHOP);
    const before = await runningServices(scene, project);
    const held = await deployShop(scene, project, { ...SHOP, api: "2", worker: "bad" });
    expect([held.status, held.decision, held.replaces]).toEqual(["partial_failure", "pending", first.id]);
    expect(statuses(held)).toEqual({
      web: "unchanged",
      api: "healthy",
      worker: "failed",
      migrate: "unchanged",
      db: "unchanged",
    });
    expect(held.error).toMatchObject({ code: "services_failed" });
    expect(held.error?.message).toContain("worker");
    expect(await versions(scene, project)).toEqual({ ...SHOP, api: "2" });
    const after = await runningServices(scene, project);
    expect([after["web"], after["db"]]).toEqual([before["web"], before["db"]]);
    expect((await scene.memory.liveReleases.find(project.id))?.deployment.id).toBe(held.id);
    expect(eventSummary(await scene.events(held.id)).slice(-2)).toEqual([
      "status partial_failure",
      "end partial_failure",
    ]);
  });

  test("leaves a public service that failed on its former version, in the same container", async () => {
    await using scene = await shopScene();
    const project = await shopProject(scene);
    await deployShop(scene, project, SHOP);
    const before = await runningServices(scene, project);
    const held = await deployShop(scene, project, { ...SHOP, api: "bad" });
    expect(held.status).toBe("partial_failure");
    expect(await runningServices(scene, project)).toEqual(before);
  });

  test("fails the services that depend on it too, and says why", async () => {
    await using scene = await shopScene();
    const project = await shopProject(scene);
    const held = await deployShop(scene, project, { ...SHOP, migrate: "bad" });
    expect(statuses(held)).toEqual({
      web: "failed",
      api: "failed",
      worker: "failed",
      migrate: "failed",
      db: "healthy",
    });
    expect(held.services.find(({ name }) => name === "api")?.error).toContain("migrate");
    expect(Object.keys(await versions(scene, project))).toEqual(["db"]);
    expect(scene.memory.edge.routeOf(`${project.slug}.localhost`, "/")?.target).toEqual({ kind: "none" });
  });

  test("is the active release: neither it nor the release to return to can be cancelled or deleted", async () => {
    await using scene = await shopScene();
    const project = await shopProject(scene);
    const first = await deployShop(scene, project, SHOP);
    const held = await deployShop(scene, project, { ...SHOP, worker: "bad" });
    for (const refused of [
      scene.useCases.cancelDeployment(scene.by, held.id),
      scene.useCases.removeDeployment(scene.by, held.id),
      scene.useCases.removeDeployment(scene.by, first.id),
      scene.useCases.rollback(scene.by, held.id),
    ])
      expect(await refused.catch((error: unknown) => error)).toMatchObject({ kind: "invalid" });
  });

  test("makes later deployments wait for it until it is decided", async () => {
    await using scene = await shopScene();
    const project = await shopProject(scene);
    await deployShop(scene, project, SHOP);
    const held = await deployShop(scene, project, { ...SHOP, worker: "bad" });
    const later = await scene.deploy(project, { services: shop({ ...SHOP, web: "2" }) });
    await Bun.sleep(30);
    const shown = await scene.useCases.viewDeployment(scene.by, later.id);
    expect(shown.deployment).toMatchObject({ status: "queued", waitingFor: held.id });
    await scene.useCases.keepDeployment(scene.by, held.id);
    expect((await scene.settled(later.id)).status).toBe("ready");
  });
});

describe("keepDeployment()", () => {
  test("accepts what came up; the rest stays on its former version", async () => {
    await using scene = await shopScene();
    const project = await shopProject(scene);
    await deployShop(scene, project, SHOP);
    const held = await deployShop(scene, project, { ...SHOP, api: "2", worker: "bad" });
    const before = await runningServices(scene, project);
    const kept = await scene.useCases.keepDeployment(scene.by, held.id);
    expect([kept.status, kept.decision, kept.error]).toEqual(["ready", "kept", null]);
    expect(await runningServices(scene, project)).toEqual(before);
    expect(eventSummary(await scene.events(held.id)).slice(-4)).toEqual([
      "status partial_failure",
      "end partial_failure",
      "status ready",
      "end ready",
    ]);
    const next = await deployShop(scene, project, { ...SHOP, api: "2", worker: "2" });
    expect(statuses(next)).toEqual({
      web: "unchanged",
      api: "unchanged",
      worker: "healthy",
      migrate: "unchanged",
      db: "unchanged",
    });
  });

  test("records what ran, so that a rollback can return to it", async () => {
    await using scene = await shopScene();
    const project = await shopProject(scene);
    await deployShop(scene, project, SHOP);
    const held = await deployShop(scene, project, { ...SHOP, api: "2", worker: "bad" });
    await scene.useCases.keepDeployment(scene.by, held.id);
    await deployShop(scene, project, { ...SHOP, api: "3", worker: "3" });
    scene.memory.clock.advance(1_000);
    const back = await scene.settled((await scene.useCases.rollback(scene.by, held.id)).id);
    expect([back.status, back.error]).toEqual(["ready", null]);
    expect(await versions(scene, project)).toEqual({ ...SHOP, api: "2", worker: "1" });
  });
});

describe("rejectDeployment()", () => {
  test("reverts changed services, leaves the others, and makes the former release the active one", async () => {
    await using scene = await shopScene();
    const project = await shopProject(scene);
    const first = await deployShop(scene, project, SHOP);
    const before = await runningServices(scene, project);
    const held = await deployShop(scene, project, { ...SHOP, api: "2", db: "2", worker: "bad", migrate: "2" });
    const { deployment, restoredDeploymentId } = await scene.useCases.rejectDeployment(scene.by, held.id);
    expect([deployment.status, deployment.decision, restoredDeploymentId]).toEqual(["rejected", "rejected", first.id]);
    const after = await runningServices(scene, project);
    expect(after["web"]).toEqual(before["web"]!);
    const { migrate: _, ...running } = SHOP;
    expect(await versions(scene, project)).toMatchObject(running);
    expect((await scene.memory.liveReleases.find(project.id))?.deployment.id).toBe(first.id);
    expect(scene.memory.edge.routeOf(`${project.slug}.localhost`, "/api")?.servedBy).toBe(after["api"]!.instanceId);
    expect(scene.memory.runtime.started.filter(({ service }) => service === "migrate")).toHaveLength(2);
    expect(eventSummary(await scene.events(held.id)).slice(-2)).toEqual(["status rejected", "end rejected"]);
    const next = await deployShop(scene, project, SHOP);
    expect(new Set(Object.values(statuses(next)))).toEqual(new Set(["unchanged"]));
  });

  test("of the first deployment leaves nothing", async () => {
    await using scene = await shopScene();
    const project = await shopProject(scene);
    const held = await deployShop(scene, project, { ...SHOP, worker: "bad" });
    const { deployment, restoredDeploymentId } = await scene.useCases.rejectDeployment(scene.by, held.id);
    expect([deployment.status, restoredDeploymentId]).toEqual(["rejected", null]);
    expect(await scene.memory.liveReleases.find(project.id)).toBeUndefined();
    expect(scene.memory.edge.routeOf(`${project.slug}.localhost`, "/")).toBeUndefined();
    await eventually(
      () => scene.memory.runtime.list(),
      (left) => left.length === 0,
    );
    expect(await scene.folders()).toEqual([]);
  });

  test("leaves everything as it was, and the decision open, when the former version no longer comes up", async () => {
    await using scene = await shopScene();
    const project = await shopProject(scene);
    await deployShop(scene, project, SHOP);
    const held = await deployShop(scene, project, { ...SHOP, api: "2", worker: "bad" });
    const before = await runningServices(scene, project);
    scene.memory.runtime.scripts.set("service:api", { does: "ends", code: 1 });
    const refused = await scene.useCases.rejectDeployment(scene.by, held.id).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(Failure);
    expect(refused).toMatchObject({ kind: "invalid", code: "reject_failed" });
    expect(await runningServices(scene, project)).toEqual(before);
    expect(await scene.memory.deployments.get(held.id)).toMatchObject({
      status: "partial_failure",
      decision: "pending",
      pendingDecision: null,
    });
    scene.memory.runtime.scripts.delete("service:api");
    expect((await scene.useCases.rejectDeployment(scene.by, held.id)).deployment.status).toBe("rejected");
  });

  test("and keepDeployment() are refused when no decision is pending, and after one was made", async () => {
    await using scene = await shopScene();
    const project = await shopProject(scene);
    const ready = await deployShop(scene, project, SHOP);
    const held = await deployShop(scene, project, { ...SHOP, worker: "bad" });
    const [one, other] = await Promise.allSettled([
      scene.useCases.keepDeployment(scene.by, held.id),
      scene.useCases.rejectDeployment(scene.by, held.id),
    ]);
    expect([one.status, other.status].toSorted()).toEqual(["fulfilled", "rejected"]);
    for (const id of [ready.id, held.id]) {
      expect(await scene.useCases.keepDeployment(scene.by, id).catch((error: unknown) => error)).toMatchObject({
        kind: "invalid",
      });
      expect(await scene.useCases.rejectDeployment(scene.by, id).catch((error: unknown) => error)).toMatchObject({
        kind: "invalid",
      });
    }
  });
});
