import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { DockerImageBuilder } from "../../adapters/docker/build/image_builder.ts";
import { EngineApi } from "../../adapters/docker/engine/engine_api.ts";
import { Failure } from "../../domain/failure.ts";
import { imageBuilderContract } from "../contracts/image_builder.ts";
import { releaseImagesContract } from "../contracts/release_images.ts";
import { answerOf, runRequest, runtimeContract } from "../contracts/runtime.ts";
import { runtimeRemovalContract } from "../contracts/runtime_removal.ts";
import { serviceNetworksContract } from "../contracts/service_networks.ts";
import { serviceRuntimeContract } from "../contracts/service_runtime.ts";
import { volumesContract } from "../contracts/volumes.ts";
import { type DistantEngine, distantEngine } from "../support/peers/distant_engine.ts";
import { BASE, dockerImages } from "../support/peers/docker_images.ts";
import { dockerServices } from "../support/peers/docker_services.ts";
import { dockerWorld } from "../support/peers/docker_world.ts";

// The adapters for Docker with the engine of another machine, reached over one SSH connection. Left out: the classic
// builder and the registries, which differ in what the engine does and not in how it is reached, and sockets, because the
// processes of another machine are not visible.

let distant: DistantEngine;
beforeAll(async () => {
  distant = await distantEngine();
});
afterAll(async () => {
  await distant?.[Symbol.asyncDispose]();
});

const NAME = "Docker on a server";
const world = async () => ({
  ...(await dockerWorld(distant.host, { distant })),
  restartsBeginAnew: "the count is kept by a rename, for which a crashing program runs too briefly on a slow way",
});
const services = () => dockerServices(distant.host, { distant });
const images = () => dockerImages({ engine: distant.engine }, distant.host);

runtimeContract(NAME, world, { atOnce: true });
runtimeRemovalContract(NAME, world, { atOnce: true });
serviceRuntimeContract(NAME, services, { atOnce: true });
serviceNetworksContract(NAME, services, { atOnce: true });
volumesContract(NAME, services, { atOnce: true });

const AWAY = {
  address: () => Promise.reject(new Failure("unavailable", "unreachable", "Cannot connect to nowhere")),
  name: () => "nowhere",
  failure: () => undefined,
};

imageBuilderContract(NAME, async () => {
  const own = await images();
  const folder = await own.folder({
    Dockerfile: `FROM ${BASE}\nARG A\nRUN echo one; echo two; : ${crypto.randomUUID()} $A\nEXPOSE 3000\nEXPOSE 2000/udp\n`,
    "docker/failing": `FROM ${BASE}\nRUN echo failing; exit 3\n`,
  });
  const endless = `FROM ${BASE}\nRUN trap '' TERM INT; echo waiting; while :; do sleep 1; done\n`;
  return {
    builder: own.builder,
    images: own.images,
    away: new DockerImageBuilder({ engine: new EngineApi(AWAY), installation: "none" }),
    talking: { folder, dockerfile: { path: "Dockerfile" } },
    failing: { folder, dockerfile: { path: "docker/failing" } },
    baseless: { folder, dockerfile: { text: "FROM slipway-no-such-image:1\nRUN true\n" } },
    endless: { folder, dockerfile: { text: endless } },
    folder: own.folder,
    [Symbol.asyncDispose]: () => own[Symbol.asyncDispose](),
  };
});

releaseImagesContract(NAME, async () => {
  const [own, elsewhere] = await Promise.all([images(), images()]);
  return {
    images: own.images,
    make: own.make,
    elsewhere,
    isThere: own.isThere,
    bring: async () => distant.image,
    use: own.use,
    async [Symbol.asyncDispose]() {
      await own[Symbol.asyncDispose]();
      await elsewhere[Symbol.asyncDispose]();
    },
  };
});

describe("DockerRuntime on a server", () => {
  test("publishes ports on the loopback address of the server alone, and leads to them from this machine", async () => {
    await using opened = await world();
    const request = runRequest(opened, opened.programs.web);
    const started = await opened.runtime.start(request);
    expect(await answerOf(started)).toBe("hello");
    const container = await opened.containerOf(request.instanceId);
    const format = "{{json .HostConfig.PortBindings}}";
    const bindings = JSON.parse(await distant.server.docker(["inspect", "--format", format, container]));
    const [published] = bindings["8080/tcp"];
    expect(published.HostIp).toBe("127.0.0.1");
    expect(Number(published.HostPort)).not.toBe(started.port!);
    const outside = fetch(`http://${distant.server.address}:${published.HostPort}/`, { keepalive: false });
    await expect(outside).rejects.toThrow();
  });

  test("takes another port when one is in use on the server", async () => {
    await using opened = await world();
    const requests = Array.from({ length: 8 }, () => runRequest(opened, opened.programs.web));
    const started = await Promise.all(requests.map((request) => opened.runtime.start(request)));
    expect(new Set(started.map(({ port }) => port)).size).toBe(8);
    for (const instance of started) expect(await answerOf(instance)).toBe("hello");
  });
});
