import { describe, expect, test } from "bun:test";
import { TarReader } from "../../domain/archive/tar_reader.ts";
import { newId } from "../../domain/id.ts";
import type { ReleaseImage, ReleaseImages } from "../../ports/release_images.ts";
import { failureOf } from "./image_builder.ts";

/** What an image is made of: texts by absolute path. */
type Files = Readonly<Record<string, string>>;

/** The images of an installation, and how to get some. */
export interface ReleaseImagesForContract extends AsyncDisposable {
  readonly images: ReleaseImages;
  /** Makes the image of a deployment; resolves to its digest. */
  make(image: Pick<ReleaseImage, "deploymentId" | "projectId">, files?: Files): Promise<string>;
  /** The same engine, for another installation. */
  readonly elsewhere: Pick<ReleaseImagesForContract, "images" | "make">;
  /** Runs an image until it is disposed. */
  use(image: string): Promise<AsyncDisposable>;
}

/** The files of a tar with their content; everything else as `null`. */
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

function ids(): { readonly deploymentId: string; readonly projectId: string } {
  return { deploymentId: newId("dep"), projectId: newId("prj") };
}

/** What every `ReleaseImages` adapter promises. */
export function releaseImagesContract(name: string, open: () => Promise<ReleaseImagesForContract>) {
  describe(`ReleaseImages contract: ${name}`, () => {
    test("find() and list() give what was made, and know nothing else", async () => {
      await using world = await open();
      const [first, second] = [ids(), ids()];
      const image = await world.make(first);
      await world.make(second);
      expect(await world.images.find(first.deploymentId)).toEqual({ ...first, image, bytes: expect.any(Number) });
      expect(await world.images.find(newId("dep"))).toBeUndefined();
      const listed = (await world.images.list()).map(({ deploymentId }) => deploymentId);
      expect(listed).toEqual(expect.arrayContaining([first.deploymentId, second.deploymentId]));
    });

    test("remove() removes that image alone, and an absent one is no error", async () => {
      await using world = await open();
      const [first, second] = [ids(), ids()];
      await world.make(first);
      await world.make(second);
      await world.images.remove(first.deploymentId);
      expect(await world.images.find(first.deploymentId)).toBeUndefined();
      expect(await world.images.find(second.deploymentId)).toBeDefined();
      await world.images.remove(first.deploymentId);
    });

    test("remove() leaves an image that is in use until it is not", async () => {
      await using world = await open();
      const used = ids();
      const image = await world.make(used);
      const running = await world.use(image);
      await world.images.remove(used.deploymentId);
      expect(await world.images.find(used.deploymentId)).toMatchObject({ image });
      await running[Symbol.asyncDispose]();
      await world.images.remove(used.deploymentId);
      expect(await world.images.find(used.deploymentId)).toBeUndefined();
    });

    test("images of another installation are neither seen nor removed", async () => {
      await using world = await open();
      const foreign = ids();
      await world.elsewhere.make(foreign);
      expect(await world.images.find(foreign.deploymentId)).toBeUndefined();
      expect((await world.images.list()).map(({ deploymentId }) => deploymentId)).not.toContain(foreign.deploymentId);
      await world.images.remove(foreign.deploymentId);
      await world.images.trim(10 ** 12);
      expect(await world.elsewhere.images.find(foreign.deploymentId)).toBeDefined();
    });

    test("trim() keeps the images of deployments", async () => {
      await using world = await open();
      const kept = ids();
      const image = await world.make(kept);
      await world.images.trim(10 ** 12);
      expect(await world.images.find(kept.deploymentId)).toMatchObject({ image });
    });

    test("archive() gives the files below a path, named from its last part on", async () => {
      await using world = await open();
      const image = await world.make(ids(), { "/app/dist/a.txt": "a", "/app/dist/sub/b.txt": "b", "/app/c.txt": "c" });
      const files = await filesOf(await world.images.archive(image, "/app/dist"));
      expect(Object.entries(files).filter(([, text]) => text !== null)).toEqual([
        ["dist/a.txt", "a"],
        ["dist/sub/b.txt", "b"],
      ]);
      expect(Object.keys(files).every((file) => file.startsWith("dist/"))).toBe(true);
    });

    test("archive() leaves nothing that keeps the image from being removed", async () => {
      await using world = await open();
      const read = ids();
      const image = await world.make(read, { "/app/dist/a.txt": "a" });
      await filesOf(await world.images.archive(image, "/app/dist/"));
      await (await world.images.archive(image, "/app/dist")).cancel();
      await failureOf(world.images.archive(image, "/app/nothing"));
      await world.images.remove(read.deploymentId);
      expect(await world.images.find(read.deploymentId)).toBeUndefined();
    });

    test("archive() says when there are no files below a path", async () => {
      await using world = await open();
      const image = await world.make(ids(), { "/app/dist/a.txt": "a" });
      for (const path of ["/app/nothing", "/nothing/at/all", "/app/dist/a.txt", "app/dist"]) {
        const error = await failureOf(world.images.archive(image, path));
        expect([path, error.kind, error.code]).toEqual([path, "invalid", "output_missing"]);
      }
    });
  });
}
