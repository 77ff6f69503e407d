import { describe, expect, test } from "bun:test";
import type { Deployment, Environment } from "../../../domain/deployments/deployment.ts";
import type { Project } from "../../../domain/projects/project.ts";
import { Secret } from "../../../domain/secret.ts";
import { APP, commit, EngineScene, REPOSITORY } from "../../support/apps/engine_scene.ts";
import {
  deployShop,
  SHOP,
  shop,
  shopProject,
  shopScene,
  runningServices,
  versions,
} from "../../support/apps/service_scene.ts";

async function promoted(scene: EngineScene, { id }: Deployment): Promise<Deployment> {
  scene.memory.clock.advance(1_000);
  return scene.settled((await scene.useCases.promote(scene.by, id)).id);
}

interface VariableOptions {
  readonly key?: string;
  readonly environment?: Environment;
}

/** Sets a variable of production, or of previews. */
async function variable(
  scene: EngineScene,
  { id }: Project,
  value: string,
  { key = "GREETING", environment = "production" }: VariableOptions = {},
) {
  const upserts = [{ key, value: new Secret(value), secret: true }];
  await scene.useCases.changeVariables(scene.by, id, { upserts, deletes: [], environment });
}

const OF_PREVIEWS = { environment: "preview" } as const;

/** The start requests of a deployment. */
const startsOf = (scene: EngineScene, { id }: Deployment) =>
  scene.memory.runtime.started.filter(({ deploymentId }) => deploymentId === id);

describe("a promoted preview", () => {
  test("serves its files under the project's name, with the current variables, and leaves the preview alone", async () => {
    await using scene = await EngineScene.open();
    const project = await scene.project();
    const live = await scene.deployed(project);
    await variable(scene, project, "of the preview", OF_PREVIEWS);
    scene.known.git[REPOSITORY] = { commits: [commit("b2", APP)] };
    scene.memory.clock.advance(1_000);
    const preview = await scene.deployed(project, { environment: "preview" });
    expect(scene.served(project)).toBe(live.id);
    expect(startsOf(scene, preview)[0]!.environment.get("GREETING")?.reveal()).toBe("of the preview");
    await variable(scene, project, "of production");
    const ready = await promoted(scene, preview);
    expect([ready.status, ready.error]).toEqual(["ready", null]);
    expect(ready).toMatchObject({
      environment: "production",
      trigger: "manual",
      rollbackOf: null,
      artifactOf: preview.id,
      commitSha: preview.commitSha,
      commitMessage: preview.commitMessage,
      replaces: live.id,
    });
    expect(ready.steps.map(({ name }) => name)).toEqual(["start", "health", "switch", "retire", "clean"]);
    expect(scene.served(project)).toBe(ready.id);
    const [started, ...others] = startsOf(scene, ready);
    expect(others).toEqual([]);
    expect(started).toMatchObject({ scope: project.id, runs: { folder: `/releases/${preview.id}` } });
    expect(started!.environment.get("GREETING")?.reveal()).toBe("of production");
    expect((await scene.log(ready.id)).join("\n")).toContain(`The preview ${preview.id} goes live as production`);
    expect((await scene.world.liveReleases.find(preview.id))?.deployment.id).toBe(preview.id);
    expect(await scene.memory.deployments.get(preview.id)).toMatchObject({ status: "ready", environment: "preview" });
  });

  test("gets the endpoints that the project has, and claims their names", async () => {
    await using scene = await EngineScene.open();
    const project = await scene.project();
    const preview = await scene.deployed(project, { environment: "preview" });
    const publicEndpoints = [{ domain: "harbour-shop", targetPath: "/shop" }];
    await scene.useCases.changeProject(scene.by, project.id, { settings: { publicEndpoints } });
    const ready = await promoted(scene, preview);
    expect(ready.urls).toEqual(["http://harbour-shop.localhost:4480/shop"]);
    expect(scene.memory.edge.routeOf("harbour-shop.localhost", "/shop")?.servedBy).toStartWith(ready.id);
  });

  test("masks the secrets that it runs with", async () => {
    await using scene = await EngineScene.open();
    const project = await scene.project();
    const preview = await scene.deployed(project, { environment: "preview" });
    await variable(scene, project, "hunter2hunter2");
    const ready = await promoted(scene, preview);
    const { instanceId } = (await scene.memory.deployments.get(ready.id))!.services[0]!;
    scene.memory.runtime.print(instanceId!, "it is hunter2hunter2");
    const query = { since: 0, limit: 10, kind: "runtime" } as const;
    const [line] = await scene.useCases.readLogs(scene.by, ready.id, query);
    expect(line!.message).not.toContain("hunter2");
  });

  test("can be rolled back to, redeployed and kept like any other release, even after the preview is deleted", async () => {
    await using scene = await EngineScene.open();
    const project = await scene.project();
    const preview = await scene.deployed(project, { environment: "preview" });
    const ready = await promoted(scene, preview);
    await scene.useCases.removeDeployment(scene.by, preview.id);
    expect(await scene.folders()).toContain(preview.id);
    scene.memory.clock.advance(1_000);
    const next = await scene.settled((await scene.useCases.redeploy(scene.by, ready.id, {})).id);
    expect(next).toMatchObject({ status: "ready", source: { kind: "git", url: REPOSITORY } });
    scene.memory.clock.advance(1_000);
    const back = await scene.settled((await scene.useCases.rollback(scene.by, ready.id)).id);
    expect(back).toMatchObject({ status: "ready", environment: "production", artifactOf: preview.id });
    expect(scene.served(project)).toBe(back.id);
  });

  test("is not a rollback: that of a preview stays a preview, with what was recorded", async () => {
    await using scene = await EngineScene.open();
    const project = await scene.project();
    await variable(scene, project, "recorded", OF_PREVIEWS);
    const preview = await scene.deployed(project, { environment: "preview" });
    await variable(scene, project, "changed", OF_PREVIEWS);
    scene.memory.clock.advance(1_000);
    const back = await scene.settled((await scene.useCases.rollback(scene.by, preview.id)).id);
    expect(back).toMatchObject({ environment: "preview", trigger: "rollback", rollbackOf: preview.id });
    expect(startsOf(scene, back)[0]!.environment.get("GREETING")?.reveal()).toBe("recorded");
    expect(scene.served(project)).toBeUndefined();
  });

  test("that came from an upload is promoted and redeployed from its files", async () => {
    await using scene = await EngineScene.open();
    const project = await scene.project({});
    const preview = await scene.deployed(project, {
      uploadSessionId: await scene.upload(APP),
      environment: "preview",
    });
    const ready = await promoted(scene, preview);
    expect([ready.status, scene.served(project)]).toEqual(["ready", ready.id]);
    scene.memory.clock.advance(1_000);
    const next = await scene.settled((await scene.useCases.redeploy(scene.by, ready.id, {})).id);
    expect([next.status, next.error]).toEqual(["ready", null]);
  });
});

describe("a promoted preview of several services", () => {
  test("replaces what changed, in the project's own scope, and runs one-off services", async () => {
    await using scene = await shopScene();
    const project = await shopProject(scene);
    const live = await deployShop(scene, project, SHOP);
    const before = await runningServices(scene, project);
    scene.memory.clock.advance(1_000);
    const wanted = { ...SHOP, web: "2", migrate: "2" };
    const preview = await scene.deployed(project, { services: shop(wanted), environment: "preview" });
    const ready = await promoted(scene, preview);
    expect([ready.status, ready.error]).toEqual(["ready", null]);
    expect(await versions(scene, project)).toMatchObject({ web: "2", api: "1", db: "1" });
    const after = await runningServices(scene, project);
    expect(after["db"]!.instanceId).toBe(before["db"]!.instanceId);
    expect(after["web"]!.instanceId).not.toBe(before["web"]!.instanceId);
    const started = startsOf(scene, ready);
    expect(started.map(({ service }) => service).toSorted()).toContain("migrate");
    expect(new Set(started.map(({ scope }) => scope))).toEqual(new Set([project.id]));
    expect(ready.urls).toEqual(live.urls);
  });

  test("gets the current variables, and values set by a service still win", async () => {
    await using scene = await shopScene();
    const project = await shopProject(scene);
    await variable(scene, project, "of previews", OF_PREVIEWS);
    await variable(scene, project, "old");
    await variable(scene, project, "old too", { key: "COLOR" });
    const services = shop({ web: "1" }).map((service) => ({
      ...service,
      dependsOn: [],
      environment: { COLOR: "blue" },
    }));
    const publicEndpoints = [{ service: "web" }];
    const preview = await scene.deployed(project, { services, publicEndpoints, environment: "preview" });
    await variable(scene, project, "new");
    const ready = await promoted(scene, preview);
    expect([ready.status, ready.error]).toEqual(["ready", null]);
    const [{ environment }] = startsOf(scene, ready) as [ReturnType<typeof startsOf>[number]];
    expect([environment.get("GREETING")?.reveal(), environment.get("COLOR")?.reveal()]).toEqual(["new", "blue"]);
  });

  test("of a compose file resolves the file with the current variables", async () => {
    await using scene = await shopScene();
    const file = [
      "services:",
      "  web:",
      "    image: web:1",
      '    ports: ["8080"]',
      "    environment:",
      "      GREETING: hello ${WHO}",
    ].join("\n");
    scene.known.git[REPOSITORY] = { commits: [commit("c1", { "compose.yaml": file })] };
    const project = await scene.project({ gitUrl: REPOSITORY });
    await variable(scene, project, "preview", { key: "WHO", ...OF_PREVIEWS });
    const preview = await scene.deployed(project, { environment: "preview" });
    expect([preview.status, preview.error]).toEqual(["ready", null]);
    await variable(scene, project, "production", { key: "WHO" });
    const ready = await promoted(scene, preview);
    expect([ready.status, ready.error]).toEqual(["ready", null]);
    const [{ environment }] = startsOf(scene, ready) as [ReturnType<typeof startsOf>[number]];
    expect([...environment].map(([name, value]) => [name, value.reveal()])).toEqual([["GREETING", "hello production"]]);
    expect(ready.urls).toEqual([`http://${project.slug}.localhost:4480`]);
  });
});
