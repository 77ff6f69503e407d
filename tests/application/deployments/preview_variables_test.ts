import { describe, expect, test } from "bun:test";
import type { Deployment, Environment } from "../../../domain/deployments/deployment.ts";
import type { Project } from "../../../domain/projects/project.ts";
import { Secret } from "../../../domain/secret.ts";
import { APP, commit, EngineScene, REPOSITORY, START } from "../../support/apps/engine_scene.ts";
import { shopScene } from "../../support/apps/service_scene.ts";

const PRODUCTION = "canary-of-production";
const PREVIEW = "canary-of-previews";

async function set(scene: EngineScene, { id }: Project, environment: Environment, values: Record<string, string>) {
  const upserts = Object.entries(values).map(([key, value]) => ({ key, value: new Secret(value), secret: true }));
  await scene.useCases.changeVariables(scene.by, id, { upserts, deletes: [], environment });
}

/** A project with a variable in both sets, and one more in each. */
async function withVariables(scene: EngineScene, settings = {}): Promise<Project> {
  const project = await scene.project({ gitUrl: REPOSITORY, ...settings });
  await set(scene, project, "production", { BOTH: PRODUCTION, LIVE_ONLY: PRODUCTION });
  await set(scene, project, "preview", { BOTH: PREVIEW, PREVIEW_ONLY: PREVIEW });
  return project;
}

const shown = (values: ReadonlyMap<string, Secret>) =>
  Object.fromEntries([...values].map(([key, value]) => [key, value.reveal()]));

/** The environment that the instances of a deployment were started with. */
const startedWith = (scene: EngineScene, { id }: Deployment) =>
  scene.memory.runtime.started
    .filter(({ deploymentId }) => deploymentId === id)
    .map(({ environment }) => shown(environment));

const OF_PREVIEWS = { BOTH: PREVIEW, PREVIEW_ONLY: PREVIEW };
const OF_PRODUCTION = { BOTH: PRODUCTION, LIVE_ONLY: PRODUCTION };

describe("a preview", () => {
  test("is built and run with the variables of previews only, and production with its own", async () => {
    await using scene = await EngineScene.open();
    const project = await withVariables(scene);
    const live = await scene.deployed(project);
    const preview = await scene.deployed(project, { environment: "preview" });
    expect([live.status, preview.status]).toEqual(["ready", "ready"]);
    expect(startedWith(scene, live)).toEqual([expect.objectContaining(OF_PRODUCTION)]);
    expect(startedWith(scene, preview)).toEqual([expect.objectContaining(OF_PREVIEWS)]);
    expect(shown(await scene.memory.deployments.environment(preview.id))).toEqual(OF_PREVIEWS);
    expect(preview.secretKeys.toSorted()).toEqual(["BOTH", "PREVIEW_ONLY"]);
    const builds = scene.memory.builder.requests.filter(({ deploymentId }) => deploymentId === preview.id);
    expect(builds.map(({ environment }) => shown(environment))).toEqual([OF_PREVIEWS]);
    expect(JSON.stringify([startedWith(scene, preview), builds.map(({ commands }) => commands)])).not.toContain(
      PRODUCTION,
    );
  });

  test("shares no build cache with production", async () => {
    await using scene = await EngineScene.open();
    const project = await withVariables(scene);
    for (const environment of ["production", "preview", "preview"] as const) {
      await scene.deployed(project, { environment });
    }
    const { id } = project;
    const keys = scene.memory.builder.requests.map(({ cacheKey }) => cacheKey);
    expect(keys).toEqual([id, `${id}_previews`, `${id}_previews`]);
  });

  test("gets none when previews have none", async () => {
    await using scene = await EngineScene.open();
    const project = await scene.project();
    await set(scene, project, "production", { LIVE_ONLY: PRODUCTION });
    const preview = await scene.deployed(project, { environment: "preview" });
    expect([preview.status, preview.secretKeys]).toEqual(["ready", []]);
    expect(shown(await scene.memory.deployments.environment(preview.id))).toEqual({});
    expect(JSON.stringify(startedWith(scene, preview))).not.toContain(PRODUCTION);
  });

  test("masks its secrets in every log", async () => {
    await using scene = await EngineScene.open();
    const project = await withVariables(scene);
    scene.scriptBuild({ prints: [`key=${PREVIEW};`] });
    scene.memory.runtime.scripts.set(START, { does: "answers", prints: [`key=${PREVIEW};`] });
    const { id } = await scene.deployed(project, { environment: "preview" });
    const read = (kind: "build" | "runtime") => scene.useCases.readLogs(scene.by, id, { since: 0, limit: 100, kind });
    for (const kind of ["build", "runtime"] as const) {
      const messages = (await read(kind)).map(({ message }) => message);
      expect(messages).toContain("key=[secret];");
      expect(messages.join()).not.toContain(PREVIEW);
    }
    expect(JSON.stringify(await scene.events(id))).not.toContain(PREVIEW);
  });

  test("is redeployed with the variables that previews have then, and rolled back to with those recorded", async () => {
    await using scene = await EngineScene.open();
    const project = await withVariables(scene);
    const preview = await scene.deployed(project, { environment: "preview" });
    await set(scene, project, "preview", { BOTH: "changed" });
    await set(scene, project, "production", { LATE: PRODUCTION });
    scene.memory.clock.advance(1_000);
    const again = await scene.settled((await scene.useCases.redeploy(scene.by, preview.id, {})).id);
    expect(again).toMatchObject({ status: "ready", environment: "preview" });
    expect(shown(await scene.memory.deployments.environment(again.id))).toEqual({ ...OF_PREVIEWS, BOTH: "changed" });
    scene.memory.clock.advance(1_000);
    const back = await scene.settled((await scene.useCases.rollback(scene.by, preview.id)).id);
    expect(shown(await scene.memory.deployments.environment(back.id))).toEqual(OF_PREVIEWS);
  });

  test("is promoted with the variables of production", async () => {
    await using scene = await EngineScene.open();
    const project = await withVariables(scene);
    const preview = await scene.deployed(project, { environment: "preview" });
    scene.memory.clock.advance(1_000);
    const live = await scene.settled((await scene.useCases.promote(scene.by, preview.id)).id);
    expect([live.status, live.environment]).toEqual(["ready", "production"]);
    expect(shown(await scene.memory.deployments.environment(live.id))).toEqual(OF_PRODUCTION);
    expect(live.secretKeys.toSorted()).toEqual(["BOTH", "LIVE_ONLY"]);
    expect(JSON.stringify(startedWith(scene, live))).not.toContain(PREVIEW);
  });

  test("says after a restart whether the variables of previews have changed", async () => {
    await using scene = await EngineScene.open();
    const project = await withVariables(scene);
    const live = await scene.deployed(project);
    const preview = await scene.deployed(project, { environment: "preview" });
    const changed = async ({ id }: Deployment) =>
      (await scene.useCases.restartInstances(scene.by, id)).variablesChanged;
    expect([await changed(live), await changed(preview)]).toEqual([false, false]);
    await set(scene, project, "production", { BOTH: "changed" });
    expect([await changed(live), await changed(preview)]).toEqual([true, false]);
    await set(scene, project, "preview", { BOTH: "changed" });
    expect(await changed(preview)).toBe(true);
  });
});

describe("a preview in containers", () => {
  test("builds its Dockerfile with the variables of previews as arguments and secrets", async () => {
    await using scene = await EngineScene.open({ engine: { runtime: "docker" } });
    const files = { Dockerfile: "FROM debian\nARG OPEN\nARG LIVE_ONLY\nEXPOSE 9000\n" };
    scene.known.git[REPOSITORY] = { commits: [commit("a1", files)] };
    const project = await withVariables(scene);
    const open = (value: string, environment: Environment) =>
      scene.useCases.changeVariables(scene.by, project.id, {
        upserts: ["OPEN", "LIVE_ONLY"]
          .slice(0, environment === "preview" ? 1 : 2)
          .map((key) => ({ key, value: new Secret(value), secret: false })),
        deletes: [],
        environment,
      });
    await open("of production", "production");
    await open("of previews", "preview");
    await scene.deployed(project, { environment: "preview" });
    const { args, secrets } = scene.memory.imageBuilder.requests.at(-1)!;
    expect([...args]).toEqual([["OPEN", "of previews"]]);
    expect([...secrets.keys()].toSorted()).toEqual(["BOTH", "OPEN", "PREVIEW_ONLY"]);
    expect(secrets.get("BOTH")?.reveal()).toBe(PREVIEW);
  });

  test("reuses no result or cache of a build with other variables, and leaves production its own", async () => {
    await using scene = await EngineScene.open({ engine: { runtime: "docker" } });
    scene.known.git[REPOSITORY] = { commits: [commit("a1", APP)] };
    const project = await withVariables(scene);
    const made: Deployment[] = [];
    for (const environment of ["production", "preview", "production", "preview"] as const) {
      scene.memory.clock.advance(1_000);
      made.push(await scene.deployed(project, { environment }));
    }
    const [live, preview, nextLive, nextPreview] = made.map(({ buildTag }) => buildTag);
    expect(preview).not.toBe(live!);
    expect([nextLive, nextPreview]).toEqual([live!, preview!]);
    const texts = scene.memory.imageBuilder.requests.map(({ dockerfile }) => JSON.stringify(dockerfile));
    const scopes = texts.map((text) => new Set(Array.from(text.matchAll(/type=cache,id=([^/]*)/g), ([, id]) => id)));
    expect(scopes.map((found) => [...found])).toEqual([
      [project.id],
      [`${project.id}_previews`],
      [project.id],
      [`${project.id}_previews`],
    ]);
  });
});

/** A service that names a variable. */
const web = (name: string) => [{ name: "web", image: "web:1", ports: [80], environment: [name] }];

describe("services of a preview", () => {
  test("of a compose file are resolved with the variables of previews", async () => {
    await using scene = await shopScene();
    const file = [
      "services:",
      "  web:",
      "    image: web:1",
      '    ports: ["8080"]',
      "    environment:",
      "      BOTH: both ${BOTH}",
      "      LIVE: live ${LIVE_ONLY:-unset}",
    ].join("\n");
    scene.known.git[REPOSITORY] = { commits: [commit("c1", { "compose.yaml": file })] };
    const project = await withVariables(scene);
    const preview = await scene.deployed(project, { environment: "preview" });
    expect([preview.status, preview.error]).toEqual(["ready", null]);
    expect(startedWith(scene, preview)).toEqual([{ BOTH: `both ${PREVIEW}`, LIVE: "live unset" }]);
    const live = await scene.deployed(project);
    expect(startedWith(scene, live)).toEqual([{ BOTH: `both ${PRODUCTION}`, LIVE: `live ${PRODUCTION}` }]);
  });

  test("that were given get the variables of previews", async () => {
    await using scene = await shopScene();
    const project = await withVariables(scene, { services: web("BOTH"), projectType: "services" });
    const preview = await scene.deployed(project, { environment: "preview" });
    const own = await scene.deployed(project, { environment: "preview", services: web("PREVIEW_ONLY") });
    expect([preview.status, own.status]).toEqual(["ready", "ready"]);
    expect([startedWith(scene, preview), startedWith(scene, own)]).toEqual([[OF_PREVIEWS], [OF_PREVIEWS]]);
    const live = await scene.settled((await scene.useCases.promote(scene.by, preview.id)).id);
    expect([live.status, startedWith(scene, live)]).toEqual(["ready", [OF_PRODUCTION]]);
  });

  test.each(["of the request", "in the settings"])("%s cannot name a variable of production", async (where) => {
    await using scene = await shopScene();
    const services = web("LIVE_ONLY");
    const project = await withVariables(scene, where === "in the settings" ? { services } : {});
    const request = where === "in the settings" ? {} : { services };
    const refused = scene.deploy(project, { environment: "preview", ...request });
    await expect(refused).rejects.toMatchObject({
      kind: "invalid",
      details: [{ message: expect.stringContaining("previews of the project have no variable of this name") }],
    });
    expect((await scene.deployed(project, request)).status).toBe("ready");
  });

  test("fail to deploy when previews have lost the variable that they name, whatever production has", async () => {
    await using scene = await shopScene();
    const project = await withVariables(scene);
    const held = await scene.deploy(project, { environment: "preview", services: web("BOTH"), start: false });
    const change = { upserts: [], deletes: ["BOTH"], environment: "preview" } as const;
    await scene.useCases.changeVariables(scene.by, project.id, change);
    await scene.useCases.startBuild(scene.by, held.id);
    expect((await scene.settled(held.id)).error).toMatchObject({
      code: "variable_missing",
      message:
        'Cannot deploy "web": previews of the project have no variable BOTH. Set it for previews, or deploy with other services',
    });
  });
});
