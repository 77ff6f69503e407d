import { describe, expect, test } from "bun:test";
import { newId } from "../../domain/id.ts";
import type { ImageRegistry, PullRequest } from "../../ports/deployments/image_registry.ts";
import type { ImageOwner, ReleaseImages } from "../../ports/deployments/release_images.ts";
import { failureOf } from "./image_builder.ts";

/** An engine, and a registry that tests can fill and break. */
export interface ImageRegistryForContract extends AsyncDisposable {
  readonly registry: ImageRegistry;
  readonly images: ReleaseImages;
  /** The same with an unreachable engine. */
  readonly away: ImageRegistry;
  /** The registry host: the prefix of its image names, up to the slash. */
  readonly host: string;
  /**
   * Pushes a new image that exposes port 5432 to the registry, under a name unknown to the engine; resolves to its id.
   */
  push(name: string): Promise<string>;
  /** Makes the registry of these names unreachable from now on. */
  gone(names: readonly string[]): void | Promise<void>;
  /** Makes the registry of this name accept connections without responding from now on. */
  hanging(name: string): void | Promise<void>;
  /** Creates an image of the installation. */
  make(owner: ImageOwner): Promise<string>;
  /** Pulls an image as another user of the engine. */
  pullByHand(name: string): Promise<void>;
  /** Returns whether the engine has an image. */
  isThere(image: string): Promise<boolean>;
  /** Keeps an image in use until disposed. */
  use(image: string): Promise<AsyncDisposable>;
}

/** A request to pull an image; records the output. */
export function pullRequest(
  reference: string,
  given: Partial<PullRequest> = {},
): PullRequest & { readonly lines: string[] } {
  const lines: string[] = [];
  return {
    reference,
    pull: "missing",
    owner: { deploymentId: newId("dep"), projectId: newId("prj"), service: "db" },
    signal: new AbortController().signal,
    log: (line, stream) => void lines.push(stream === "stderr" ? `! ${line}` : line),
    lines,
    ...given,
  };
}

/** Invalid image references. */
const NO_REFERENCES = [
  "",
  " ",
  "Postgres",
  "postgres:",
  "postgres:16 ",
  "postgres 16",
  "post\ngres",
  "../images",
  "a/../../b",
  "a//b",
  "/postgres",
  "postgres@sha256:1234",
  "postgres?x=1",
  "postgres#1",
  "postgres%2f",
  "http://example.com/postgres",
  "sha256:1234",
  `sha256:${"g".repeat(64)}`,
  "f".repeat(64),
  `a:${"t".repeat(129)}`,
  "a\0b",
  "$(id)",
  "-v",
];

/** An unused image reference. */
function fresh({ host }: ImageRegistryForContract): string {
  return `${host}/test/${crypto.randomUUID()}:1`;
}

/** Contract tests for `ImageRegistry` adapters. */
export function imageRegistryContract(name: string, open: () => Promise<ImageRegistryForContract>) {
  describe(`ImageRegistry contract: ${name}`, () => {
    test("fetch() pulls a missing image, logs it, and keeps it for its owner", async () => {
      await using world = await open();
      const reference = fresh(world);
      const image = await world.push(reference);
      const request = pullRequest(reference);
      expect(await world.registry.fetch(request)).toEqual({ image, port: 5432 });
      expect(await world.images.find(request.owner.deploymentId, "db")).toMatchObject({ ...request.owner, image });
      expect(request.lines[0]).toBe(`Pulling ${reference}`);
      expect(request.lines.at(-1)).toStartWith(`Pulled ${reference}: `);
    });

    test('fetch() does not contact the registry for an image that is present, unless pull is "always"', async () => {
      await using world = await open();
      const reference = fresh(world);
      const first = await world.push(reference);
      await world.registry.fetch(pullRequest(reference));
      const second = await world.push(reference);
      for (const pull of ["missing", "never"] as const) {
        const request = pullRequest(reference, { pull });
        expect(await world.registry.fetch(request)).toEqual({ image: first, port: 5432 });
        expect(request.lines).toEqual([]);
        expect(await world.images.find(request.owner.deploymentId, "db")).toMatchObject({ image: first });
      }
      const always = pullRequest(reference, { pull: "always" });
      expect(await world.registry.fetch(always)).toEqual({ image: second, port: 5432 });
      expect(await world.images.find(always.owner.deploymentId, "db")).toMatchObject({ image: second });
      const again = pullRequest(reference, { pull: "always" });
      expect((await world.registry.fetch(again)).image).toBe(second);
      expect(again.lines).toContain(`Pulling ${reference}`);
    });

    test("fetch() replaces the previous image of a service", async () => {
      await using world = await open();
      const reference = fresh(world);
      await world.push(reference);
      const request = pullRequest(reference);
      await world.registry.fetch(request);
      const image = await world.push(reference);
      await world.registry.fetch({ ...request, pull: "always" });
      const kept = (await world.images.list()).filter((each) => each.deploymentId === request.owner.deploymentId);
      expect(kept.map((each) => each.image)).toEqual([image]);
    });

    test("fetch() leaves an image whose name moved to a newer one for trim() to remove when unused", async () => {
      await using world = await open();
      const reference = fresh(world);
      const [former, latter] = [pullRequest(reference), pullRequest(reference, { pull: "always" })];
      const first = await world.push(reference);
      await world.registry.fetch(former);
      const second = await world.push(reference);
      await world.registry.fetch(latter);
      await world.images.trim(10 ** 12);
      expect(await world.images.find(former.owner.deploymentId, "db")).toMatchObject({ image: first });
      const running = await world.use(first);
      await world.images.remove(former.owner.deploymentId);
      await world.images.trim(10 ** 12);
      expect(await world.isThere(first)).toBe(true);
      await running[Symbol.asyncDispose]();
      await world.images.remove(former.owner.deploymentId);
      await world.images.trim(10 ** 12);
      expect(await world.isThere(first)).toBe(false);
      await world.images.remove(latter.owner.deploymentId);
      await world.images.trim(10 ** 12);
      // It still has its public name.
      expect(await world.isThere(second)).toBe(true);
    });

    test("fetch() never removes an image that was pulled by hand, even when it takes over its name", async () => {
      await using world = await open();
      const reference = fresh(world);
      const first = await world.push(reference);
      await world.pullByHand(reference);
      const former = pullRequest(reference);
      expect((await world.registry.fetch(former)).image).toBe(first);
      await world.push(reference);
      await world.registry.fetch(pullRequest(reference, { pull: "always" }));
      await world.images.remove(former.owner.deploymentId);
      await world.images.trim(10 ** 12);
      expect(await world.isThere(first)).toBe(true);
    });

    test("fetch() that is not confirmed keeps the previous image of the service", async () => {
      await using world = await open();
      const reference = fresh(world);
      const image = await world.push(reference);
      const request = pullRequest(reference);
      await world.registry.fetch(request);
      await world.push(reference);
      const reason = new Error("another worker took over");
      const again = { ...request, pull: "always" as const, confirm: () => Promise.reject(reason) };
      expect(await world.registry.fetch(again).catch((error: unknown) => error)).toBe(reason);
      expect((await world.images.find(request.owner.deploymentId, "db"))?.image).toBe(image);
    });

    test('fetch() never pulls when pull is "never"', async () => {
      await using world = await open();
      const reference = fresh(world);
      await world.push(reference);
      const request = pullRequest(reference, { pull: "never" });
      const error = await failureOf(world.registry.fetch(request));
      expect([error.kind, error.code]).toEqual(["invalid", "image_missing"]);
      expect(error.message).toStartWith(
        `Cannot get the image ${reference}: it is not on this machine and must not be pulled`,
      );
      expect(request.lines).toEqual([]);
    });

    test("fetch() names an image that the registry does not have", async () => {
      await using world = await open();
      const reference = fresh(world);
      const request = pullRequest(reference);
      const error = await failureOf(world.registry.fetch(request));
      expect([error.kind, error.code]).toEqual(["invalid", "image_missing"]);
      expect(error.message).toStartWith(`Cannot get the image ${reference}: `);
      expect(await world.images.find(request.owner.deploymentId, "db")).toBeUndefined();
    });

    test('fetch() with pull "always" falls back to the present image when the registry does not answer', async () => {
      await using world = await open();
      const [here, elsewhere] = [fresh(world), fresh(world)];
      const image = await world.push(here);
      await world.registry.fetch(pullRequest(here));
      await world.gone([here, elsewhere]);
      const request = pullRequest(here, { pull: "always" });
      expect(await world.registry.fetch(request)).toEqual({ image, port: 5432 });
      expect(request.lines.at(-1)).toStartWith(`! Cannot check the registry for ${here} (`);
      expect(request.lines.at(-1)).toEndWith("); using the local one");
      for (const pull of ["missing", "always"] as const) {
        const error = await failureOf(world.registry.fetch(pullRequest(elsewhere, { pull })));
        expect([error.kind, error.code]).toEqual(["invalid", "image_missing"]);
      }
    });

    test("fetch() accepts the id of an image that is present", async () => {
      await using world = await open();
      const reference = fresh(world);
      const image = await world.push(reference);
      const absent = await failureOf(world.registry.fetch(pullRequest(image)));
      expect([absent.kind, absent.code]).toEqual(["invalid", "image_missing"]);
      await world.registry.fetch(pullRequest(reference));
      const request = pullRequest(image, { pull: "always" });
      expect((await world.registry.fetch(request)).image).toBe(image);
      expect(request.lines).toEqual([]);
    });

    test("fetch() refuses an image of another project, by name and by id", async () => {
      await using world = await open();
      const owner = { deploymentId: newId("dep"), projectId: newId("prj"), service: "app" };
      const image = await world.make(owner);
      for (const reference of [
        image,
        "slipway/anything",
        "docker.io/slipway/anything:1",
        "index.docker.io/slipway/anything:1",
        `slipway/anything@${image}`,
      ]) {
        for (const pull of ["missing", "always", "never"] as const) {
          const request = pullRequest(reference, { pull });
          const error = await failureOf(world.registry.fetch(request));
          expect([reference, error.kind, error.code]).toEqual([reference, "invalid", "image_foreign"]);
          expect(request.lines).toEqual([]);
          expect(await world.images.find(request.owner.deploymentId, "db")).toBeUndefined();
        }
      }
      const own = pullRequest(image, { owner: { ...owner, deploymentId: newId("dep"), service: "web" } });
      expect((await world.registry.fetch(own)).image).toBe(image);
    });

    test.each(NO_REFERENCES)("fetch() refuses %j, which is not a valid image name", async (reference) => {
      await using world = await open();
      for (const pull of ["missing", "always", "never"] as const) {
        const request = pullRequest(reference, { pull });
        const error = await failureOf(world.registry.fetch(request));
        expect([error.kind, error.code]).toEqual(["invalid", "image_missing"]);
        expect(error.message).toContain("that is not an image name");
        expect(request.lines).toEqual([]);
      }
    });

    test("fetch() stops when aborted, with the given reason, and keeps nothing", async () => {
      await using world = await open();
      const reference = fresh(world);
      await world.push(reference);
      await world.hanging(reference);
      const stop = new AbortController();
      const reason = new Error("enough");
      const log = (line: string) => {
        if (line.startsWith("Pulling")) setTimeout(() => stop.abort(reason), 50);
      };
      const request = pullRequest(reference, { signal: stop.signal, log });
      expect(await world.registry.fetch(request).catch((error: unknown) => error)).toBe(reason);
      expect(await world.images.find(request.owner.deploymentId, "db")).toBeUndefined();
      const before = pullRequest(reference, { signal: AbortSignal.abort(reason) });
      expect(await world.registry.fetch(before).catch((error: unknown) => error)).toBe(reason);
      expect(before.lines).toEqual([]);
    });

    test("fetch() reports that no engine answers", async () => {
      await using world = await open();
      const error = await failureOf(world.away.fetch(pullRequest("postgres:16")));
      expect([error.kind, error.code]).toEqual(["unavailable", "engine_away"]);
    });
  });
}
