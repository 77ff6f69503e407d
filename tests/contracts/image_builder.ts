import { describe, expect, test } from "bun:test";
import type { Failure } from "../../domain/failure.ts";
import { newId } from "../../domain/id.ts";
import type { ImageBuilder, ImageBuildInput, ImageRequest } from "../../ports/deployments/image_builder.ts";
import type { ReleaseImages } from "../../ports/deployments/release_images.ts";

type Source = Pick<ImageRequest, "folder" | "dockerfile">;

/** Files to write: contents, symlinks with their targets, or contents with file modes. */
export type ContextFiles = Readonly<
  Record<string, string | { readonly link: string } | { readonly text: string; readonly mode: number }>
>;

/** A builder and the sources that the contract builds, in the form of the builder under test. */
export interface ImageBuilderForContract extends AsyncDisposable {
  readonly builder: ImageBuilder;
  readonly images: ReleaseImages;
  /** A builder whose engine is unreachable. */
  readonly away: ImageBuilder;
  /** Prints `one` and `two`, one per line, and exposes port 3000. */
  readonly talking: Source;
  /** Prints `failing`; its second step then exits with code 3. */
  readonly failing: Source;
  /** Uses the base image `slipway-no-such-image:1`. */
  readonly baseless: Source;
  /** Prints `waiting`, then runs forever and ignores signals to stop. */
  readonly endless: Source;
  /** Writes files into a new folder and returns its path. */
  folder(files: ContextFiles): Promise<string>;
}

/** The build context that the contract hashes. */
const CONTEXT: ContextFiles = {
  Dockerfile: "FROM scratch\nCOPY . /\n",
  ".dockerignore": "ignored\nout\n",
  "src/a.js": "a",
  "src/link": { link: "a.js" },
  "src/ä/deep": "deep",
};

/** An image request for a new deployment that records the output. */
export function imageRequest(
  source: Source,
  given: Partial<ImageRequest> = {},
): ImageRequest & { readonly lines: string[] } {
  const lines: string[] = [];
  return {
    deploymentId: newId("dep"),
    projectId: newId("prj"),
    service: "app",
    args: new Map(),
    secrets: new Map(),
    signal: new AbortController().signal,
    log: (line) => void lines.push(line),
    lines,
    ...source,
    ...given,
  };
}

/** The failure that a build rejects with. */
export async function failureOf(build: Promise<unknown>): Promise<Failure> {
  return build.then(
    () => expect.unreachable("It was built"),
    (error: unknown) => error as Failure,
  );
}

/** Contract tests for `ImageBuilder` adapters. */
export function imageBuilderContract(name: string, open: () => Promise<ImageBuilderForContract>) {
  describe(`ImageBuilder contract: ${name}`, () => {
    test("build() stores an image for its deployment and passes on what is printed", async () => {
      await using world = await open();
      const request = imageRequest(world.talking);
      const { image, port } = await world.builder.build(request);
      expect(image).toMatch(/^sha256:[0-9a-f]{64}$/);
      expect(port).toBe(3000);
      expect(request.lines.filter((line) => line === "one" || line === "two")).toEqual(["one", "two"]);
      const { deploymentId, projectId } = request;
      expect(await world.images.find(deploymentId, "app")).toMatchObject({ deploymentId, projectId, image });
    });

    test("build() reads more output only once a line is consumed", async () => {
      await using world = await open();
      const taken: string[] = [];
      let taking = 0;
      const log = async (line: string) => {
        expect(++taking).toBe(1);
        await Bun.sleep(1);
        taken.push(line);
        taking--;
      };
      await world.builder.build(imageRequest(world.talking, { log }));
      expect(taken.filter((line) => line === "one" || line === "two")).toEqual(["one", "two"]);
    });

    test("build() replaces the image that its deployment had", async () => {
      await using world = await open();
      const first = imageRequest(world.talking);
      await world.builder.build(first);
      const { image } = await world.builder.build(
        imageRequest(world.talking, { ...first, args: new Map([["A", "b"]]) }),
      );
      const kept = (await world.images.list()).filter(({ deploymentId }) => deploymentId === first.deploymentId);
      expect(kept.map((each) => each.image)).toEqual([image]);
    });

    test("build() keeps the images of a deployment's services apart", async () => {
      await using world = await open();
      const web = imageRequest(world.talking, { service: "web", args: new Map([["A", "web"]]) });
      const api = imageRequest(world.talking, { ...web, service: "api", args: new Map([["A", "api"]]) });
      const [ofWeb, ofApi] = [await world.builder.build(web), await world.builder.build(api)];
      expect(ofWeb.image).not.toBe(ofApi.image);
      expect(await world.images.find(web.deploymentId, "web")).toMatchObject({ service: "web", image: ofWeb.image });
      expect(await world.images.find(web.deploymentId, "api")).toMatchObject({ service: "api", image: ofApi.image });
      expect(await world.images.find(web.deploymentId, "app")).toBeUndefined();
    });

    test("build() fails naming the step and its exit code, and keeps nothing", async () => {
      await using world = await open();
      const request = imageRequest(world.failing);
      const error = await failureOf(world.builder.build(request));
      expect([error.kind, error.code]).toEqual(["invalid", "build_failed"]);
      expect(error.message).toMatch(/^Cannot build: step \[.*2\/\d\] RUN .*ended with code 3$/);
      expect(request.lines).toContain("failing");
      expect(await world.images.find(request.deploymentId, "app")).toBeUndefined();
    });

    test("build() names an image that is not available", async () => {
      await using world = await open();
      const error = await failureOf(world.builder.build(imageRequest(world.baseless)));
      expect([error.kind, error.code]).toEqual(["invalid", "base_image_missing"]);
      expect(error.message).toStartWith("Cannot build: the image slipway-no-such-image:1 ");
    });

    test.each(["/etc/passwd", "../Dockerfile", "a/../../Dockerfile"])(
      "build() refuses the Dockerfile %s",
      async (path) => {
        await using world = await open();
        const request = imageRequest({ ...world.talking, dockerfile: { path } });
        const error = await failureOf(world.builder.build(request));
        expect([error.kind, error.code]).toEqual(["invalid", "link_outside"]);
        expect(request.lines).toEqual([]);
      },
    );

    test("build() stops when aborted, with the given reason, and keeps nothing", async () => {
      await using world = await open();
      const stop = new AbortController();
      const reason = new Error("enough");
      const seen: string[] = [];
      const log = (line: string) => {
        seen.push(line);
        if (line === "waiting") stop.abort(reason);
      };
      const request = imageRequest(world.endless, { signal: stop.signal, log });
      expect(await world.builder.build(request).catch((error: unknown) => error)).toBe(reason);
      expect(seen.at(-1)).toBe("waiting");
      expect(await world.images.find(request.deploymentId, "app")).toBeUndefined();
    });

    test("build() that is not confirmed keeps the previous image of its deployment and stores nothing", async () => {
      await using world = await open();
      const first = imageRequest(world.talking);
      const { image } = await world.builder.build(first);
      const reason = new Error("another worker took over");
      const confirm = async () => {
        expect((await world.images.find(first.deploymentId, "app"))?.image).toBe(image);
        throw reason;
      };
      const again = imageRequest(world.talking, { ...first, args: new Map([["A", "b"]]), confirm });
      expect(await world.builder.build(again).catch((error: unknown) => error)).toBe(reason);
      const kept = (await world.images.list()).filter(({ deploymentId }) => deploymentId === first.deploymentId);
      expect(kept.map((each) => [each.service, each.image])).toEqual([["app", image]]);
    });

    test("build() does not start when it was aborted before", async () => {
      await using world = await open();
      const reason = new Error("enough");
      const request = imageRequest(world.talking, { signal: AbortSignal.abort(reason) });
      expect(await world.builder.build(request).catch((error: unknown) => error)).toBe(reason);
      expect(request.lines).toEqual([]);
    });

    test("features() and build() report that no engine answers", async () => {
      await using world = await open();
      for (const attempt of [world.away.features(), world.away.build(imageRequest(world.talking))]) {
        const error = await failureOf(attempt);
        expect([error.kind, error.code]).toEqual(["unavailable", "engine_away"]);
      }
    });

    test("identify() returns the same digest for the same files in any order, without an engine", async () => {
      await using world = await open();
      const one = { dockerfile: { path: "Dockerfile" }, args: new Map([..."ab"].map((each) => [each, each])) };
      const other = { ...one, args: new Map([...one.args].toReversed()) };
      const reversed = Object.fromEntries(Object.entries(CONTEXT).toReversed());
      const first = await world.builder.identify({ ...one, folder: await world.folder(CONTEXT) });
      expect(first).toMatch(/^sha256:[0-9a-f]{64}$/);
      const folder = await world.folder(reversed);
      expect(await world.builder.identify({ ...other, folder })).toBe(first);
    });

    test("identify() detects every difference that a build would see, and no other", async () => {
      await using world = await open();
      const digestOf = async (files: ContextFiles, given: Partial<ImageBuildInput> = {}) =>
        world.builder.identify({
          folder: await world.folder(files),
          dockerfile: { path: "Dockerfile" },
          args: new Map(),
          ...given,
        });
      const { "src/a.js": _, ...withoutFile } = CONTEXT;
      const text = "FROM scratch";
      const digests = {
        plain: await digestOf(CONTEXT),
        content: await digestOf({ ...CONTEXT, "src/a.js": "b" }),
        added: await digestOf({ ...CONTEXT, "src/b.js": "" }),
        removed: await digestOf(withoutFile),
        renamed: await digestOf({ ...withoutFile, "src/a.ts": "a" }),
        moved: await digestOf({ ...withoutFile, "a.js": "a" }),
        executable: await digestOf({ ...CONTEXT, "src/a.js": { text: "a", mode: 0o755 } }),
        link: await digestOf({ ...CONTEXT, "src/link": { link: "b.js" } }),
        linkForFile: await digestOf({ ...CONTEXT, "src/a.js": { link: "a" } }),
        dockerfile: await digestOf({ ...CONTEXT, Dockerfile: "FROM scratch\nCOPY . /b\n" }),
        otherDockerfile: await digestOf(CONTEXT, { dockerfile: { path: "src/a.js" } }),
        text: await digestOf(CONTEXT, { dockerfile: { text } }),
        without: await digestOf(CONTEXT, { dockerfile: { text, without: ["src"] } }),
        target: await digestOf(CONTEXT, { target: "build" }),
        argument: await digestOf(CONTEXT, { args: new Map([["A", "b"]]) }),
        otherArgument: await digestOf(CONTEXT, { args: new Map([["A", "c"]]) }),
        shiftedArgument: await digestOf(CONTEXT, { args: new Map([["Ab", ""]]) }),
        ignoring: await digestOf({ ...CONTEXT, ".dockerignore": "other\n" }),
      };
      const ignored = { ...CONTEXT, ignored: "x", "out/file": "x", "out/deep/file": { text: "", mode: 0o755 } };
      expect(await digestOf(ignored)).toBe(digests.plain);
      const values = Object.values(digests);
      expect(Object.entries(digests).filter(([, each]) => values.indexOf(each) !== values.lastIndexOf(each))).toEqual(
        [],
      );
    });

    test("identify() refuses links that lead out of the folder", async () => {
      await using world = await open();
      const args = new Map();
      const inside = await world.folder({ ...CONTEXT, link: { link: "../outside" } });
      const absolute = await world.folder({ ...CONTEXT, link: { link: "/etc/passwd" } });
      const plain = await world.folder(CONTEXT);
      for (const buildPlan of [
        { folder: inside, dockerfile: { path: "Dockerfile" }, args },
        { folder: absolute, dockerfile: { path: "Dockerfile" }, args },
        { folder: plain, dockerfile: { path: "../Dockerfile" }, args },
      ]) {
        const error = await failureOf(world.builder.identify(buildPlan));
        expect([error.kind, error.code]).toEqual(["invalid", "link_outside"]);
      }
      const missing = { folder: plain, dockerfile: { path: "none" }, args };
      expect((await failureOf(world.builder.identify(missing))).code).toBe("build_failed");
    });
  });
}
