import { describe, expect, test } from "bun:test";
import { Failure } from "../../../domain/failure.ts";
import { commit, EngineScene, REPOSITORY, SITE } from "../../support/apps/engine_scene.ts";
import { intercepted } from "../../support/faults/intercepted.ts";

const DOCKERFILE = { Dockerfile: "FROM debian\nEXPOSE 9000\n" };

/** A scene whose deployments run as containers, with a project that has a Dockerfile. */
async function opened(options: Parameters<typeof EngineScene.open>[0] = {}) {
  const scene = await EngineScene.open({ ...options, engine: { runtime: "docker", ...options.engine } });
  scene.known.git[REPOSITORY] = { commits: [commit("a1", DOCKERFILE)] };
  return { scene, project: await scene.project(), [Symbol.asyncDispose]: () => scene[Symbol.asyncDispose]() };
}

describe("the network of a deployment in containers", () => {
  test("is made while the image is built", async () => {
    await using open = await opened();
    const { scene, project } = open;
    const { promise: isMade, resolve: made } = Promise.withResolvers<void>();
    const { serviceNetworks } = scene.memory;
    const prepare = serviceNetworks.prepare.bind(serviceNetworks);
    serviceNetworks.prepare = (scope) => prepare(scope).then(made);
    scene.memory.imageBuilder.otherwise = { effect: () => isMade };
    const { status } = await scene.deployed(project);
    expect(status).toBe("ready");
    expect(await serviceNetworks.has(project.id)).toBe(true);
  });

  test("is left to the start when it cannot be made ahead", async () => {
    const away = new Failure("unavailable", "engine_away", "Cannot use Docker: nothing answers there");
    await using open = await opened({
      replace: ({ serviceNetworks }) => ({
        serviceNetworks: intercepted(serviceNetworks, "prepare", () => Promise.reject(away)),
      }),
    });
    expect((await open.scene.deployed(open.project)).status).toBe("ready");
  });

  test("is removed when the build fails, even if it was made only after that", async () => {
    const { promise: hasFailed, resolve: failed } = Promise.withResolvers<void>();
    await using open = await opened({
      replace: ({ serviceNetworks }) => ({
        serviceNetworks: intercepted(serviceNetworks, "prepare", (goOn) => hasFailed.then(goOn)),
      }),
    });
    const { scene, project } = open;
    const fails = { step: "RUN make", exitCode: 2 };
    scene.memory.imageBuilder.otherwise = { fails, effect: () => void setTimeout(failed, 5) };
    const { id } = await scene.deploy(project);
    expect((await scene.settled(id)).status).toBe("failed");
    expect(await scene.memory.serviceNetworks.has(project.id)).toBe(false);
  });

  test("is removed when the deployment is cancelled, but not that of the live release", async () => {
    await using open = await opened();
    const { scene, project } = open;
    const cancelled = async (environment: "production" | "preview") => {
      scene.memory.imageBuilder.otherwise = { hangs: true };
      const { id } = await scene.deploy(project, { environment });
      await scene.inStep(id, "build");
      expect((await scene.useCases.cancelDeployment(scene.by, id)).status).toBe("cancelled");
      return id;
    };
    await cancelled("production");
    expect(await scene.memory.serviceNetworks.has(project.id)).toBe(false);
    scene.memory.imageBuilder.otherwise = {};
    await scene.deployed(project);
    await cancelled("production");
    expect(await scene.memory.serviceNetworks.has(project.id)).toBe(true);
    expect(await scene.memory.serviceNetworks.has(await cancelled("preview"))).toBe(false);
  });

  test("is not made for a site, or for what runs as a process", async () => {
    const scopes: unknown[] = [];
    await using open = await opened({
      replace: ({ serviceNetworks }) => ({
        serviceNetworks: intercepted(serviceNetworks, "prepare", (goOn, [scope]) => {
          scopes.push(scope);
          return goOn();
        }),
      }),
    });
    const { scene } = open;
    scene.known.git[REPOSITORY] = { commits: [commit("a1", SITE)] };
    await scene.deployed(await scene.project());
    const process = { runtime: "process", startCommand: "serve", projectType: "app" } as const;
    await scene.deployed(await scene.project({ gitUrl: REPOSITORY, ...process }));
    expect(scopes).toEqual([]);
  });
});
