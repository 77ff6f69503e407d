import { describe, expect, test } from "bun:test";
import { DispatchingRuntime } from "../../../adapters/dispatch/dispatching_runtime.ts";
import { LibraryManifestParser } from "../../../adapters/manifests/manifest_parser.ts";
import { currentRoutes, restoreReleases, reviveReleases } from "../../../application/deployments/restore_releases.ts";
import { sweepReleases } from "../../../application/deployments/cleanup/sweep_releases.ts";
import type { Deployment } from "../../../domain/deployments/deployment.ts";
import { Failure } from "../../../domain/failure.ts";
import type { Project, ProjectSettings } from "../../../domain/projects/project.ts";
import type { World } from "../../../ports/world.ts";
import { APP, commit, EngineScene, REPOSITORY, SITE } from "../../support/apps/engine_scene.ts";
import { patientYamlReader } from "../../support/faults/patient_yaml_reader.ts";

const AWAY = new Failure("unavailable", "engine_away", "Cannot use Docker: nothing answers there");

/** A port of an unavailable engine: records every call and rejects it. */
function absent<Port extends object>(port: Port, name: string, requests: string[]): Port {
  return new Proxy(port, {
    get(target, method) {
      const member: unknown = Reflect.get(target, method, target);
      if (typeof member !== "function") return member;
      return async () => {
        requests.push(`${name}.${String(method)}`);
        throw AWAY;
      };
    },
  });
}

/** A scene without a container engine, which records all calls to one. */
async function sceneWithoutEngine() {
  const requests: string[] = [];
  const scene = await EngineScene.open({
    engine: { runtime: "auto" },
    replace: (world): Partial<World> => ({
      containerEngine: {
        answers: async () => {
          requests.push("containerEngine.answers");
          return false;
        },
      },
      manifestParser: new LibraryManifestParser(),
      yamlReader: patientYamlReader(),
      imageBuilder: absent(world.imageBuilder, "imageBuilder", requests),
      imageRegistry: absent(world.imageRegistry, "imageRegistry", requests),
      releaseImages: absent(world.releaseImages, "releaseImages", requests),
      volumes: absent(world.volumes, "volumes", requests),
      runtime: new DispatchingRuntime({
        folder: world.runtime,
        image: absent(world.runtime, "containers", requests),
        // Something else of this installation runs in containers.
        usesContainers: async () => true,
      }),
    }),
  });
  return Object.assign(scene, { requests });
}

const services = (jobs: string) => [
  { name: "web", rootDirectory: "web", startCommand: "serve web", ports: [3000] },
  { name: "jobs", rootDirectory: "jobs", startCommand: `serve ${jobs}` },
];

const PROCESS: ProjectSettings = { gitUrl: REPOSITORY, runtime: "process" };

describe("a project that runs as processes, where no engine answers", () => {
  test.each([
    ["an app", APP],
    ["a static site", SITE],
  ])(
    "%s is deployed, changed, rolled back, restarted, pinned and deleted without a request to an engine",
    async (_, files) => {
      await using scene = await sceneWithoutEngine();
      scene.known.git[REPOSITORY] = { commits: [commit("a1", files)] };
      const project = await scene.project(PROCESS);
      const first = await next(scene, project);
      await next(scene, project);
      const back = await scene.settled((await scene.useCases.rollback(scene.by, first.id)).id);
      expect(back).toMatchObject({ status: "ready", rollbackOf: first.id, error: null });
      const again = await scene.settled((await scene.useCases.redeploy(scene.by, back.id, {})).id);
      expect(again.status).toBe("ready");
      await scene.useCases.pinDeployment(scene.by, first.id, true);
      await scene.useCases.describeInstances(scene.by, again.id);
      await scene.useCases.measureInstances(scene.by, again.id);
      await scene.useCases.readLogs(scene.by, again.id, { since: 0, limit: 10, kind: "runtime" });
      if (files === APP) await scene.useCases.restartInstances(scene.by, again.id);
      await scene.useCases.removeDeployment(scene.by, again.id);
      await scene.useCases.removeProject(scene.by, project.id);
      expect(scene.requests).toEqual([]);
    },
  );

  test("a failing, a cancelled and a preview deployment send no request to an engine", async () => {
    await using scene = await sceneWithoutEngine();
    const project = await scene.project({ ...PROCESS, rollbackWindow: 1 });
    scene.scriptBuild({ exitCode: 1 });
    expect((await scene.deployed(project)).status).toBe("failed");
    scene.scriptBuild({ hangs: true });
    const cancelled = await scene.deploy(project);
    await scene.inStep(cancelled.id, "build");
    await scene.useCases.cancelDeployment(scene.by, cancelled.id);
    scene.memory.builder.scripts.clear();
    const previews: Deployment[] = [];
    for (let count = 0; count < 3; count++) previews.push(await next(scene, project, { environment: "preview" }));
    await scene.useCases.removeDeployment(scene.by, previews.at(-1)!.id);
    expect(scene.requests).toEqual([]);
  });

  test("a partial failure is rejected and kept without a request to an engine", async () => {
    await using scene = await sceneWithoutEngine();
    const part = APP["package.json"]!;
    scene.known.git[REPOSITORY] = { commits: [commit("a1", { "web/package.json": part, "jobs/package.json": part })] };
    const project = await scene.project({ ...PROCESS, publicEndpoints: [{ service: "web" }] });
    await next(scene, project, { services: services("jobs") });
    scene.memory.runtime.scripts.set("serve badly", { does: "ends", code: 3 });
    for (const decide of ["rejectDeployment", "keepDeployment"] as const) {
      const held = await scene.deployed(project, { services: services("badly") });
      expect(held).toMatchObject({ status: "partial_failure", decision: "pending" });
      await scene.useCases[decide](scene.by, held.id);
    }
    expect(scene.requests).toEqual([]);
  });

  test("start-up, revival and the sweep send none before anything was put into containers", async () => {
    await using scene = await sceneWithoutEngine();
    const project = await scene.project(PROCESS);
    await next(scene, project);
    await scene.memory.releaseFolders.make("dep_leftover");
    const { installation } = scene.memory;
    const runtime = new DispatchingRuntime({
      folder: scene.memory.runtime,
      image: absent(scene.memory.runtime, "containers", scene.requests),
      usesContainers: () => installation.usesContainers(),
    });
    const world = { ...scene.world, runtime };
    const restore = restoreReleases(world);
    await restore();
    expect(await currentRoutes(world, { baseDomain: "localhost" })()).toHaveLength(1);
    await reviveReleases(world, restore)();
    await sweepReleases(world, 2)();
    expect(await scene.folders()).not.toContain("dep_leftover");
    expect(scene.requests).toEqual([]);
  });
});

describe("a project that needs an engine, where none answers", () => {
  test.each([
    ["a Dockerfile", { Dockerfile: "FROM scratch" }, /it has a Dockerfile, .*Install Docker.*projectType/],
    [
      "a compose file",
      { "compose.yaml": "services: {web: {image: nginx}}" },
      /web cannot run as a process: it needs the image nginx, .*Install Docker/,
    ],
  ])("with %s, fails with an error that says what to install", async (_, files, sentence) => {
    await using scene = await sceneWithoutEngine();
    scene.known.git[REPOSITORY] = { commits: [commit("a1", files)] };
    const failed = await scene.deployed(await scene.project());
    expect(failed).toMatchObject({ status: "failed", error: { code: "engine_away", step: "detect" } });
    expect(failed.error!.message).toMatch(sentence);
  });
});

async function next(scene: EngineScene, project: Project, request: Parameters<EngineScene["deploy"]>[1] = {}) {
  scene.memory.clock.advance(1_000);
  const deployment = await scene.deployed(project, request);
  expect(deployment).toMatchObject({ status: "ready", error: null });
  return deployment;
}
