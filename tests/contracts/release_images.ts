import { describe, expect, test } from "bun:test";
import { TarReader } from "../../domain/archive/tar_reader.ts";
import { newId } from "../../domain/id.ts";
import type { ImageOwner, ReleaseImages } from "../../ports/deployments/release_images.ts";
import { failureOf } from "./image_builder.ts";

/** The files of an image: contents by absolute path. */
type Files = Readonly<Record<string, string>>;

/** The images of an installation, and functions to create some. */
export interface ReleaseImagesForContract extends AsyncDisposable {
  readonly images: ReleaseImages;
  /** Creates an image of this installation; resolves to its digest. */
  make(owner: ImageOwner, files?: Files): Promise<string>;
  /** Adds an image that is not Slipway's, under its own name, to the engine; resolves to its digest. */
  bring(): Promise<string>;
  /** Returns whether the engine has an image. */
  isThere(image: string): Promise<boolean>;
  /** Another installation on the same engine. */
  readonly elsewhere: Pick<ReleaseImagesForContract, "images" | "make">;
  /** Keeps an image in use until disposed. */
  use(image: string): Promise<AsyncDisposable>;
}

/** The contents of a tar's files; `null` for all other entries. */
export async function filesOf(tar: ReadableStream<Uint8Array>): Promise<Record<string, string | null>> {
  const reader = new TarReader();
  const decoder = new TextDecoder();
  const files: Record<string, string | null> = {};
  let name = "";
  for await (const chunk of tar) {
    for (const part of reader.read(chunk)) {
      if (part.type === "bytes") files[name] += decoder.decode(part.bytes);
      else {
        name = decoder.decode(part.name);
        files[name] = part.kind === "file" ? "" : null;
      }
    }
  }
  reader.finish();
  return files;
}

function ids(given: Partial<ImageOwner> = {}): ImageOwner {
  return { deploymentId: newId("dep"), projectId: newId("prj"), service: "app", ...given };
}

/** Contract tests for `ReleaseImages` adapters. */
export function releaseImagesContract(name: string, open: () => Promise<ReleaseImagesForContract>) {
  describe(`ReleaseImages contract: ${name}`, () => {
    test("find() and list() return existing images, and nothing else", async () => {
      await using world = await open();
      const [first, second] = [ids(), ids()];
      const image = await world.make(first);
      await world.make(second);
      expect(await world.images.find(first.deploymentId, "app")).toEqual({
        ...first,
        image,
        bytes: expect.any(Number),
      });
      expect(await world.images.find(newId("dep"), "app")).toBeUndefined();
      const listed = (await world.images.list()).map(({ deploymentId }) => deploymentId);
      expect(listed).toEqual(expect.arrayContaining([first.deploymentId, second.deploymentId]));
    });

    test("find() and list() keep the services of a deployment with any names apart", async () => {
      await using world = await open();
      const { deploymentId, projectId } = ids();
      const services = ["app", "web", "WEB", "web.1", "web-1", "_.-", "-x", "a".repeat(63)];
      const made = new Map<string, string>();
      for (const service of services) {
        const files = { [`/${service}`]: service };
        made.set(service, await world.make({ deploymentId, projectId, service }, files));
      }
      for (const [service, image] of made) {
        expect(await world.images.find(deploymentId, service)).toMatchObject({ deploymentId, service, image });
      }
      for (const service of ["api", "we", "web.", "*", "", "a/b", "b".repeat(64)]) {
        expect([service, await world.images.find(deploymentId, service)]).toEqual([service, undefined]);
      }
      const listed = (await world.images.list()).filter((each) => each.deploymentId === deploymentId);
      expect(listed.map(({ service }) => service).toSorted()).toEqual(services.toSorted());
    });

    test("keep() keeps an image for other services too, and each remove() removes only its own reference", async () => {
      await using world = await open();
      const first = ids();
      const image = await world.make(first);
      const second = ids({ projectId: first.projectId, service: "web" });
      expect(await world.images.keep(image, second)).toBe(true);
      expect(await world.images.keep(image, { ...second, service: "worker" })).toBe(true);
      expect(await world.images.find(second.deploymentId, "worker")).toMatchObject({
        ...second,
        service: "worker",
        image,
      });
      const listed = (await world.images.list()).filter((each) => each.image === image);
      expect(listed.map(({ service }) => service).toSorted()).toEqual(["app", "web", "worker"]);
      await world.images.remove(first.deploymentId);
      expect(await world.images.find(first.deploymentId, "app")).toBeUndefined();
      expect(await world.images.find(second.deploymentId, "web")).toMatchObject({ image });
      await world.images.remove(second.deploymentId);
      expect((await world.images.list()).filter((each) => each.image === image)).toEqual([]);
      expect(await world.isThere(image)).toBe(false);
    });

    test("keep() replaces the image of a service, and removes the former one unless it is still in use", async () => {
      await using world = await open();
      const [owner, other] = [ids(), ids()];
      const [former, shared, next] = [
        await world.make(owner, { "/1": "1" }),
        await world.make(other, { "/2": "2" }),
        await world.make(ids(), { "/3": "3" }),
      ];
      for (const image of [shared, next]) {
        expect(await world.images.keep(image, owner)).toBe(true);
        expect(await world.images.find(owner.deploymentId, "app")).toMatchObject({ image });
      }
      expect(await world.isThere(former)).toBe(false);
      expect(await world.images.find(other.deploymentId, "app")).toMatchObject({ image: shared });
    });

    test("keep() keeps an image from elsewhere, and never removes it", async () => {
      await using world = await open();
      const image = await world.bring();
      const owner = ids({ service: "db" });
      expect(await world.images.keep(image, owner)).toBe(true);
      expect(await world.images.keep(image, owner)).toBe(true);
      expect(await world.images.find(owner.deploymentId, "db")).toMatchObject({ ...owner, image });
      expect(await world.images.keep(await world.make(ids()), owner)).toBe(true);
      expect(await world.isThere(image)).toBe(true);
      await world.images.keep(image, owner);
      await world.images.remove(owner.deploymentId);
      expect(await world.isThere(image)).toBe(true);
      expect(await world.images.find(owner.deploymentId, "db")).toBeUndefined();
    });

    test("keep() is false for an unknown image and keeps the current one", async () => {
      await using world = await open();
      const owner = ids();
      const before = await world.make(owner);
      for (const image of [`sha256:${"0".repeat(64)}`, "slipway-test-tiny", "../containers", ""]) {
        expect([image, await world.images.keep(image, owner)]).toEqual([image, false]);
      }
      expect(await world.images.find(owner.deploymentId, "app")).toMatchObject({ image: before });
    });

    test("remove() removes that image only, and ignores an absent one", async () => {
      await using world = await open();
      const [first, second] = [ids(), ids()];
      await world.make(first);
      await world.make(second);
      await world.images.remove(first.deploymentId);
      expect(await world.images.find(first.deploymentId, "app")).toBeUndefined();
      expect(await world.images.find(second.deploymentId, "app")).toBeDefined();
      await world.images.remove(first.deploymentId);
    });

    test("remove() removes the images of all services of a deployment", async () => {
      await using world = await open();
      const { deploymentId, projectId } = ids();
      const images: string[] = [];
      for (const service of ["app", "web", "worker"]) {
        images.push(await world.make({ deploymentId, projectId, service }, { [`/${service}`]: service }));
      }
      const near = ids({ deploymentId: `${deploymentId}0` });
      await world.make(near);
      await world.images.remove(deploymentId);
      for (const image of images) expect(await world.isThere(image)).toBe(false);
      expect(await world.images.find(near.deploymentId, "app")).toBeDefined();
    });

    test("remove() keeps an image while it is in use", async () => {
      await using world = await open();
      const used = ids();
      const image = await world.make(used);
      const running = await world.use(image);
      await world.images.remove(used.deploymentId);
      expect(await world.images.find(used.deploymentId, "app")).toMatchObject({ image });
      await running[Symbol.asyncDispose]();
      await world.images.remove(used.deploymentId);
      expect(await world.images.find(used.deploymentId, "app")).toBeUndefined();
    });

    test("images of another installation are neither seen nor removed", async () => {
      await using world = await open();
      const foreign = ids();
      await world.elsewhere.make(foreign);
      expect(await world.images.find(foreign.deploymentId, "app")).toBeUndefined();
      expect((await world.images.list()).map(({ deploymentId }) => deploymentId)).not.toContain(foreign.deploymentId);
      await world.images.remove(foreign.deploymentId);
      await world.images.trim(10 ** 12);
      expect(await world.elsewhere.images.find(foreign.deploymentId, "app")).toBeDefined();
    });

    test("trim() keeps the images of deployments", async () => {
      await using world = await open();
      const kept = ids();
      const image = await world.make(kept);
      await world.images.trim(10 ** 12);
      expect(await world.images.find(kept.deploymentId, "app")).toMatchObject({ image });
    });

    test("archive() returns the files below a path, named from its last segment on", async () => {
      await using world = await open();
      const image = await world.make(ids(), { "/app/dist/a.txt": "a", "/app/dist/sub/b.txt": "b", "/app/c.txt": "c" });
      const files = await filesOf(await world.images.archive(image, "/app/dist"));
      expect(Object.entries(files).filter(([, text]) => text !== null)).toEqual([
        ["dist/a.txt", "a"],
        ["dist/sub/b.txt", "b"],
      ]);
      expect(Object.keys(files).every((file) => file.startsWith("dist/"))).toBe(true);
    });

    test("archive() leaves nothing that prevents removing the image", async () => {
      await using world = await open();
      const read = ids();
      const image = await world.make(read, { "/app/dist/a.txt": "a" });
      await filesOf(await world.images.archive(image, "/app/dist/"));
      await (await world.images.archive(image, "/app/dist")).cancel();
      await failureOf(world.images.archive(image, "/app/nothing"));
      await world.images.remove(read.deploymentId);
      expect(await world.images.find(read.deploymentId, "app")).toBeUndefined();
    });

    test("archive() reports that there are no files below a path", async () => {
      await using world = await open();
      const image = await world.make(ids(), { "/app/dist/a.txt": "a" });
      for (const path of ["/app/nothing", "/nothing/at/all", "/app/dist/a.txt", "app/dist"]) {
        const error = await failureOf(world.images.archive(image, path));
        expect([path, error.kind, error.code]).toEqual([path, "invalid", "output_missing"]);
      }
    });
  });
}
