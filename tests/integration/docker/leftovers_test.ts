import { expect, test } from "bun:test";
import { DockerRuntime } from "../../../adapters/docker/containers/docker_runtime.ts";
import { EngineApi } from "../../../adapters/docker/engine/engine_api.ts";
import { type DockerServices, dockerServices } from "../../support/peers/docker_services.ts";
import { DOCKER_HOST } from "../../support/peers/docker_world.ts";
import type { StarterTask } from "../../support/peers/docker_starter.ts";
import { eventually } from "../../support/eventually.ts";
import { faultyEngine } from "../../support/faults/faulty_engine.ts";
import { TEST_LABEL } from "../../support/runner/test_leftovers.ts";
import { serviceRequest } from "../../contracts/service_runtime.ts";

const FILES = [{ target: "/run/secrets/key", content: "secret", mode: 0o400, uid: 0, gid: 0 }];
const STARTER = new URL("../../support/peers/docker_starter.ts", import.meta.url).pathname;
const GRACE = { graceMs: 0 };

/** The number of containers, networks and volumes of an installation. */
async function thingsOf(world: DockerServices): Promise<Record<"containers" | "networks" | "volumes", number>> {
  const own = ["--quiet", "--filter", `label=slipway.installation=${world.installation}`];
  const count = async (...words: readonly string[]) =>
    (await world.docker(...words, ...own)).split("\n").filter((id) => id !== "").length;
  return {
    containers: await count("ps", "--all"),
    networks: await count("network", "ls"),
    volumes: await count("volume", "ls"),
  };
}

/** Lets the next server check everything once, for which everything older is a leftover. */
async function nextServer({ folder, installation }: DockerServices, leftAfterMs?: number): Promise<void> {
  const options = { folder, installation, ...(leftAfterMs !== undefined && { leftAfterMs }) };
  await using runtime = new DockerRuntime({ engine: new EngineApi(DOCKER_HOST), ...options });
  await runtime.supervise();
}

/** A server that is killed when it creates its container number `makes`. */
async function dyingServer(world: DockerServices, makes: number) {
  let made = 0;
  const engine = await faultyEngine(({ method, path }) =>
    method === "DELETE" || (path === "/containers/create" && ++made >= makes) ? "it was killed here" : undefined,
  );
  return { runtime: world.another(engine.host), [Symbol.asyncDispose]: () => engine[Symbol.asyncDispose]() };
}

test.concurrent("the next server removes the network of a scope in which nothing was ever started", async () => {
  await using world = await dockerServices();
  await using dying = await dyingServer(world, 1);
  const request = serviceRequest(world, world.programs.working);
  expect(await dying.runtime.start(request).catch(() => "killed")).toBe("killed");
  await nextServer(world);
  expect(await thingsOf(world)).toEqual({ containers: 0, networks: 1, volumes: 0 });
  await nextServer(world, 0);
  expect(await thingsOf(world)).toEqual({ containers: 0, networks: 0, volumes: 0 });
});

test.concurrent("the next server removes the files of an instance that was never started, and what filled them", async () => {
  await using world = await dockerServices();
  await using dying = await dyingServer(world, 2);
  const request = serviceRequest(world, world.programs.working, { container: { readOnly: true, files: FILES } });
  expect(await dying.runtime.start(request).catch(() => "killed")).toBe("killed");
  await nextServer(world);
  expect(await thingsOf(world)).toMatchObject({ containers: 1, volumes: 1 });
  await nextServer(world, 0);
  expect(await thingsOf(world)).toEqual({ containers: 0, networks: 0, volumes: 0 });
});

test.concurrent("the next server removes the network that introduced a container which is gone", async () => {
  await using world = await dockerServices();
  const [web, api] = [
    serviceRequest(world, world.programs.working, { service: "web" }),
    serviceRequest(world, world.programs.working, { service: "api", unannounced: true }),
  ];
  for (const request of [web, api]) await world.runtime.start(request);
  await world.runtime.introduce(api.instanceId);
  await world.docker("rm", "--force", await world.containerOf(api.instanceId));
  expect(await thingsOf(world)).toMatchObject({ containers: 1, networks: 2 });
  await nextServer(world);
  expect(await thingsOf(world)).toMatchObject({ containers: 1, networks: 1 });
});

test.concurrent("the next server leaves alone what belongs to a container, whether it runs or not", async () => {
  await using world = await dockerServices();
  const mounts = [{ kind: "volume", name: "data", target: "/kept", readOnly: false }] as const;
  const container = { readOnly: true, files: FILES };
  const runs = serviceRequest(world, world.programs.working, { unannounced: true, container, mounts });
  const ended = serviceRequest(world, "true", { scope: "prj_2", oneShot: true, container });
  for (const request of [runs, ended]) await world.runtime.start(request);
  await world.runtime.introduce(runs.instanceId);
  const before = await thingsOf(world);
  expect(before).toEqual({ containers: 2, networks: 3, volumes: 3 });
  await nextServer(world, 0);
  expect(await thingsOf(world)).toEqual(before);
  for (const { instanceId } of [runs, ended]) await world.runtime.remove(instanceId, GRACE);
  await nextServer(world, 0);
  // Volumes of a scope are no leftovers.
  expect(await thingsOf(world)).toEqual({ containers: 0, networks: 0, volumes: 1 });
});

test.concurrent("a container that a killed server created and did not start is distinguished from one that is being started", async () => {
  await using world = await dockerServices();
  await using stuck = await faultyEngine(({ path }) =>
    path.endsWith("/start") ? new Promise<undefined>(() => {}) : undefined,
  );
  const { folder, image, installation, runtime } = world;
  const { instanceId } = serviceRequest(world, null);
  const command = world.programs.working;
  const labels = { [TEST_LABEL]: "1" };
  const task: StarterTask = { host: stuck.host, installation, folder, labels, image, command, instanceId };
  const starter = Bun.spawn([process.execPath, STARTER, JSON.stringify(task)], {
    stdio: ["ignore", "inherit", "inherit"],
  });
  const made = await eventually(
    () => runtime.find(instanceId),
    (instance) => instance !== undefined,
  );
  expect(made).toMatchObject({ status: "starting", exit: null });
  starter.kill("SIGKILL");
  await starter.exited;
  expect(await runtime.find(instanceId)).toMatchObject({ status: "exited", exit: { reason: "stopped" } });
  expect(await runtime.list()).toMatchObject([{ instanceId, status: "exited" }]);
  await runtime.remove(instanceId, GRACE);
  await runtime.start(serviceRequest(world, command, { instanceId }));
  const running = await eventually(
    () => runtime.find(instanceId),
    (instance) => instance?.status === "running",
  );
  expect(running?.status).toBe("running");
});
