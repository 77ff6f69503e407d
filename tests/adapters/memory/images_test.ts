import { MemoryImageBuilder } from "../../../adapters/memory/image_builder.ts";
import { MemoryImageRegistry } from "../../../adapters/memory/image_registry.ts";
import { MemoryImageTransfer } from "../../../adapters/memory/image_transfer.ts";
import { MemoryReleaseFolders } from "../../../adapters/memory/release_folders.ts";
import { MemoryReleaseImages } from "../../../adapters/memory/release_images.ts";
import { newId } from "../../../domain/id.ts";
import type { ImageOwner } from "../../../ports/deployments/release_images.ts";
import { imageBuilderContract, imageRequest } from "../../contracts/image_builder.ts";
import { imageRegistryContract } from "../../contracts/image_registry.ts";
import { imageTransferContract } from "../../contracts/image_transfer.ts";
import { releaseImagesContract } from "../../contracts/release_images.ts";

const folder = "/nowhere";

imageBuilderContract("memory", async () => {
  const folders = new MemoryReleaseFolders();
  const images = new MemoryReleaseImages();
  const away = new MemoryImageBuilder(images);
  away.answers = false;
  return {
    builder: new MemoryImageBuilder(
      images,
      {
        talking: { prints: ["one", "two"], port: 3000 },
        failing: { prints: ["failing"], fails: { step: "[2/2] RUN exit 3", exitCode: 3 } },
        baseless: { lacks: "slipway-no-such-image:1" },
        endless: { prints: ["waiting"], hangs: true },
      },
      folders,
    ),
    images,
    away,
    talking: { folder, dockerfile: { path: "talking" } },
    failing: { folder, dockerfile: { path: "failing" } },
    baseless: { folder, dockerfile: { text: "baseless" } },
    endless: { folder, dockerfile: { text: "endless" } },
    async folder(tree) {
      const path = await folders.make(newId("dep"));
      const made = folders.tree(path);
      for (const [name, content] of Object.entries(tree)) {
        if (typeof content === "string") made.write(name, content);
        else if ("link" in content) made.link(name, content.link);
        else {
          made.write(name, content.text);
          made.chmod(name, content.mode);
        }
      }
      return path;
    },
    async [Symbol.asyncDispose]() {},
  };
});

releaseImagesContract("memory", async () => {
  const own = installation();
  return {
    ...own,
    elsewhere: installation(),
    bring: async () => {
      const image = digest();
      own.images.named.set(`brought:${image.slice(-8)}`, image);
      return image;
    },
    isThere: async (image) => own.images.has(image),
    use: own.use,
    async [Symbol.asyncDispose]() {},
  };
});

function installation() {
  const images = new MemoryReleaseImages();
  const builder = new MemoryImageBuilder(images);
  return {
    images,
    async make(ids: ImageOwner, files: Readonly<Record<string, string>> = {}) {
      builder.otherwise = { files };
      return (await builder.build(imageRequest({ folder, dockerfile: { text: "" } }, ids))).image;
    },
    async use(image: string) {
      images.inUse.add(image);
      return {
        async [Symbol.asyncDispose]() {
          images.inUse.delete(image);
        },
      };
    },
  };
}

imageRegistryContract("memory", async () => {
  const own = installation();
  const registry = new MemoryImageRegistry(own.images);
  const away = new MemoryImageRegistry(own.images);
  away.answers = false;
  return {
    registry,
    images: own.images,
    away,
    async push(name) {
      const image = digest();
      registry.known.set(name, { image, port: 5432 });
      return image;
    },
    gone(names) {
      for (const name of names) registry.unreachable.add(name);
    },
    hanging(name) {
      registry.hangs.add(name);
    },
    host: "registry.test",
    make: own.make,
    async pullByHand(name) {
      own.images.named.set(name, registry.known.get(name)!.image);
    },
    isThere: async (image) => own.images.has(image),
    use: own.use,
    async [Symbol.asyncDispose]() {},
  };
});

imageTransferContract("memory", async () => {
  const here = installation();
  const there = new MemoryReleaseImages();
  const transfer = () => new MemoryImageTransfer({ from: here.images, to: there });
  const nowhere = new MemoryReleaseImages();
  nowhere.answers = false;
  return {
    transfer: transfer(),
    away: {
      here: new MemoryImageTransfer({ from: nowhere, to: there }),
      there: new MemoryImageTransfer({ from: here.images, to: nowhere }),
    },
    refusing: Object.assign(transfer(), { server: "refuses" as const }),
    hanging: Object.assign(transfer(), { server: "hangs" as const }),
    async make(texts) {
      const files = texts.map((text, index) => [`/${index}`, text] as const);
      return here.make(
        { deploymentId: newId("dep"), projectId: newId("prj"), service: "app" },
        Object.fromEntries(files),
      );
    },
    isThere: async (image) => there.has(image),
    read: async (image, path) => there.files.get(image)!.get(path)!,
    async [Symbol.asyncDispose]() {},
  };
});

let lastDigest = 0;

function digest(): string {
  return `sha256:${(++lastDigest).toString(16).padStart(64, "0")}`;
}
