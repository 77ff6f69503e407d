import { describe, expect, test } from "bun:test";
import { EngineApi } from "../../adapters/docker/engine_api.ts";
import { DockerImageBuilder } from "../../adapters/docker/image_builder.ts";
import { imageBuilderContract } from "../contracts/image_builder.ts";
import { releaseImagesContract } from "../contracts/release_images.ts";
import { run } from "../support/command.ts";
import { BASE, dockerImages } from "../support/docker_images.ts";
import { TEST_LABEL } from "../support/test_leftovers.ts";

const away = new DockerImageBuilder({ engine: new EngineApi("unix:///no/such/docker.sock"), installation: "none" });

for (const builder of ["buildkit", "classic"] as const) {
  imageBuilderContract(`Docker, ${builder}`, async () => {
    const world = await dockerImages({ builder });
    const folder = await world.folder({
      Dockerfile: `FROM ${BASE}\nARG A\nRUN echo one; echo two; : ${crypto.randomUUID()} $A\nEXPOSE 3000\nEXPOSE 2000/udp\n`,
      "docker/failing": `FROM ${BASE}\nRUN echo failing; exit 3\n`,
    });
    return {
      builder: world.builder,
      images: world.images,
      away,
      talking: { folder, dockerfile: { path: "Dockerfile" } },
      failing: { folder, dockerfile: { path: "docker/failing" } },
      baseless: { folder, dockerfile: { text: "FROM slipway-no-such-image:1\nRUN true\n" } },
      endless: {
        folder,
        dockerfile: { text: `FROM ${BASE}\nRUN trap '' TERM INT; echo waiting; while :; do sleep 1; done\n` },
      },
      [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
    };
  });
}

releaseImagesContract("Docker", async () => {
  const [own, elsewhere] = await Promise.all([dockerImages(), dockerImages()]);
  return {
    images: own.images,
    make: own.make,
    elsewhere,
    async use(image) {
      const { output } = await run(["docker", "create", "--label", `${TEST_LABEL}=1`, image, "sleep"]);
      return {
        async [Symbol.asyncDispose]() {
          await run(["docker", "rm", "--force", output.trim()]);
        },
      };
    },
    async [Symbol.asyncDispose]() {
      await own[Symbol.asyncDispose]();
      await elsewhere[Symbol.asyncDispose]();
    },
  };
});

describe("DockerImageBuilder", () => {
  test("features() finds BuildKit on an engine that has it", async () => {
    await using world = await dockerImages();
    expect(await world.builder.features()).toEqual({ mounts: true });
    await using classic = await dockerImages({ builder: "classic" });
    expect(await classic.builder.features()).toEqual({ mounts: false });
  });
});
