import { describe, expect, test } from "bun:test";
import type { Failure } from "../../domain/failure.ts";
import { newId } from "../../domain/id.ts";
import type { ImageBuilder, ImageRequest } from "../../ports/image_builder.ts";
import type { ReleaseImages } from "../../ports/release_images.ts";

type Source = Pick<ImageRequest, "folder" | "dockerfile">;

/** A builder with what the contract builds, as the builder under test knows it. */
export interface ImageBuilderForContract extends AsyncDisposable {
  readonly builder: ImageBuilder;
  readonly images: ReleaseImages;
  /** A builder whose engine is not there. */
  readonly away: ImageBuilder;
  /** Prints `one` and `two`, one a line, and says it listens on port 3000. */
  readonly talking: Source;
  /** Prints `failing`; its second step then ends with code 3. */
  readonly failing: Source;
  /** Stands on `slipway-no-such-image:1`. */
  readonly baseless: Source;
  /** Prints `waiting`, then goes on for ever, whatever it is asked. */
  readonly endless: Source;
}

/** A request for a fresh deployment that notes what is printed. */
export function imageRequest(
  source: Source,
  given: Partial<ImageRequest> = {},
): ImageRequest & { readonly lines: string[] } {
  const lines: string[] = [];
  return {
    deploymentId: newId("dep"),
    projectId: newId("prj"),
    args: new Map(),
    secrets: new Map(),
    signal: new AbortController().signal,
    log: (line) => void lines.push(line),
    lines,
    ...source,
    ...given,
  };
}

/** The failure that a build ends with. */
export async function failureOf(build: Promise<unknown>): Promise<Failure> {
  return build.then(
    () => expect.unreachable("It was built"),
    (error: unknown) => error as Failure,
  );
}

/** What every `ImageBuilder` adapter promises. */
export function imageBuilderContract(name: string, open: () => Promise<ImageBuilderForContract>) {
  describe(`ImageBuilder contract: ${name}`, () => {
    test("build() keeps an image under its deployment and hands over what is printed", async () => {
      await using world = await open();
      const request = imageRequest(world.talking);
      const { image, port } = await world.builder.build(request);
      expect(image).toMatch(/^sha256:[0-9a-f]{64}$/);
      expect(port).toBe(3000);
      expect(request.lines.filter((line) => line === "one" || line === "two")).toEqual(["one", "two"]);
      const { deploymentId, projectId } = request;
      expect(await world.images.find(deploymentId)).toMatchObject({ deploymentId, projectId, image });
    });

    test("build() reads on only once a line is taken", async () => {
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

    test("build() fails naming the step and its exit code, and keeps nothing", async () => {
      await using world = await open();
      const request = imageRequest(world.failing);
      const error = await failureOf(world.builder.build(request));
      expect([error.kind, error.code]).toEqual(["invalid", "build_failed"]);
      expect(error.message).toMatch(/^Cannot build: step \[.*2\/\d\] RUN .*ended with code 3$/);
      expect(request.lines).toContain("failing");
      expect(await world.images.find(request.deploymentId)).toBeUndefined();
    });

    test("build() names the image that cannot be had", async () => {
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

    test("build() ends when it is aborted, with the reason given, and keeps nothing", async () => {
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
      expect(await world.images.find(request.deploymentId)).toBeUndefined();
    });

    test("build() does not begin when it is aborted before", async () => {
      await using world = await open();
      const reason = new Error("enough");
      const request = imageRequest(world.talking, { signal: AbortSignal.abort(reason) });
      expect(await world.builder.build(request).catch((error: unknown) => error)).toBe(reason);
      expect(request.lines).toEqual([]);
    });

    test("features() and build() say when no engine answers", async () => {
      await using world = await open();
      for (const attempt of [world.away.features(), world.away.build(imageRequest(world.talking))]) {
        const error = await failureOf(attempt);
        expect([error.kind, error.code]).toEqual(["unavailable", "engine_away"]);
      }
    });
  });
}
