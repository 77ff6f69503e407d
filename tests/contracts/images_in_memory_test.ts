import { MemoryImageBuilder } from "../../adapters/memory/image_builder.ts";
import { MemoryReleaseImages } from "../../adapters/memory/release_images.ts";
import { imageBuilderContract, imageRequest } from "./image_builder.ts";
import { releaseImagesContract } from "./release_images.ts";

const folder = "/nowhere";

imageBuilderContract("memory", async () => {
  const images = new MemoryReleaseImages();
  const away = new MemoryImageBuilder(images);
  away.answers = false;
  return {
    builder: new MemoryImageBuilder(images, {
      talking: { prints: ["one", "two"], port: 3000 },
      failing: { prints: ["failing"], fails: { step: "[2/2] RUN exit 3", exitCode: 3 } },
      baseless: { lacks: "slipway-no-such-image:1" },
      endless: { prints: ["waiting"], hangs: true },
    }),
    images,
    away,
    talking: { folder, dockerfile: { path: "talking" } },
    failing: { folder, dockerfile: { path: "failing" } },
    baseless: { folder, dockerfile: { text: "baseless" } },
    endless: { folder, dockerfile: { text: "endless" } },
    async [Symbol.asyncDispose]() {},
  };
});

releaseImagesContract("memory", async () => {
  const own = installation();
  return {
    ...own,
    elsewhere: installation(),
    async use(image) {
      own.images.inUse.add(image);
      return {
        async [Symbol.asyncDispose]() {
          own.images.inUse.delete(image);
        },
      };
    },
    async [Symbol.asyncDispose]() {},
  };
});

function installation() {
  const images = new MemoryReleaseImages();
  const builder = new MemoryImageBuilder(images);
  return {
    images,
    async make(ids: { deploymentId: string; projectId: string }, files: Readonly<Record<string, string>> = {}) {
      builder.otherwise = { files };
      return (await builder.build(imageRequest({ folder, dockerfile: { text: "" } }, ids))).image;
    },
  };
}
