import { describe, expect, test } from "bun:test";
import { EngineApi } from "../../../adapters/docker/engine/engine_api.ts";
import { DockerImageRegistry } from "../../../adapters/docker/images/image_registry.ts";
import { newId } from "../../../domain/id.ts";
import { failureOf, imageRequest } from "../../contracts/image_builder.ts";
import { imageRegistryContract, pullRequest } from "../../contracts/image_registry.ts";
import { run } from "../../support/runner/command.ts";
import { type DockerImages, dockerImages } from "../../support/peers/docker_images.ts";
import { DOCKER_HOST, tinyImage } from "../../support/peers/docker_world.ts";
import { engineGate } from "../../support/faults/engine_gate.ts";
import { OwnRegistry, removePulled } from "../../support/peers/own_registry.ts";

// The engine itself waits for an unresponsive registry.
function registryOf({ images, installation }: DockerImages, given: { host?: string; stallMs?: number } = {}) {
  const { host = DOCKER_HOST, ...options } = given;
  return new DockerImageRegistry({ engine: new EngineApi(host), installation, images, ...options });
}

imageRegistryContract("Docker", async () => {
  const opened = new AsyncDisposableStack();
  const own = opened.use(await OwnRegistry.start());
  const world = opened.use(await dockerImages());
  return {
    registry: registryOf(world),
    away: registryOf(world, { host: "unix:///no/such/docker.sock" }),
    images: world.images,
    host: own.host,
    push: (name) => own.push(name),
    gone: () => own.gate.shut(),
    hanging: () => own.gate.freeze(),
    make: (owner) => world.make(owner, { "/file": crypto.randomUUID() }),
    async pullByHand(name) {
      const { ok, lastLine } = await run(["docker", "pull", "--quiet", name]);
      if (!ok) throw new Error(`docker pull: ${lastLine}`);
    },
    isThere: world.isThere,
    use: world.use,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
});

/** A proxy in front of a registry that answers some requests itself. */
function registryFront(answer: (path: string) => Response | undefined, behind?: string) {
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url);
      const own = answer(pathname);
      if (own || behind === undefined) return own ?? new Response("?", { status: 500 });
      const { method, headers } = request;
      const passed = await fetch(`http://${behind}${pathname}`, { method, headers, signal: request.signal });
      const about = new Headers(passed.headers);
      return new Response(passed.body, { status: passed.status, headers: about });
    },
  });
  const host = `127.0.0.1:${server.port}`;
  return {
    host,
    async [Symbol.asyncDispose]() {
      await server.stop(true);
      await removePulled(host);
    },
  };
}

const API = { "docker-distribution-api-version": "registry/2.0" };

describe("DockerImageRegistry", () => {
  test("fetch() uses latest without a tag, and exactly the image of a digest", async () => {
    await using own = await OwnRegistry.start();
    await using world = await dockerImages();
    const registry = registryOf(world);
    const first = await own.push(`${own.host}/test/plain:latest`);
    const plain = pullRequest(`${own.host}/test/plain`);
    expect(await registry.fetch(plain)).toEqual({ image: first, port: 5432 });
    const digest = /sha256:[0-9a-f]{64}$/.exec(plain.lines.at(-1)!)![0];
    expect(plain.lines).toHaveLength(2);
    const second = await own.push(`${own.host}/test/plain:latest`);
    await removePulled(own.host);
    const pinned = pullRequest(`${own.host}/test/plain:latest@${digest}`);
    expect((await registry.fetch(pinned)).image).toBe(first);
    expect(pinned.lines[0]).toBe(`Pulling ${own.host}/test/plain@${digest}`);
    const again = pullRequest(`${own.host}/test/plain@${digest}`);
    expect((await registry.fetch(again)).image).toBe(first);
    expect(again.lines).toEqual([]);
    expect((await registry.fetch(pullRequest(`${own.host}/test/plain`))).image).toBe(second);
  });

  test("fetch() ends when it is aborted in the middle, and keeps nothing", async () => {
    await using own = await OwnRegistry.start();
    await using world = await dockerImages();
    const image = await own.push(`${own.host}/test/stuck:1`);
    const begun = Promise.withResolvers<void>();
    const stuck = () => {
      begun.resolve();
      return new Response(new ReadableStream({ start: (on) => on.enqueue(new Uint8Array(99)) }));
    };
    await using front = registryFront((path) => (path.endsWith(`/blobs/${image}`) ? stuck() : undefined), own.direct);
    const stop = new AbortController();
    const reason = new Error("enough");
    const request = pullRequest(`${front.host}/test/stuck:1`, { signal: stop.signal });
    const fetching = registryOf(world).fetch(request);
    await begun.promise;
    stop.abort(reason);
    expect(await fetching.catch((error: unknown) => error)).toBe(reason);
    expect(await world.images.list()).toEqual([]);
  });

  test("fetch() gives up on a registry that stops responding", async () => {
    await using own = await OwnRegistry.start();
    await using world = await dockerImages();
    await own.push(`${own.host}/test/silent:1`);
    own.gate.freeze();
    const registry = registryOf(world, { stallMs: 300 });
    const error = await failureOf(registry.fetch(pullRequest(`${own.host}/test/silent:1`)));
    expect([error.kind, error.code]).toEqual(["invalid", "image_missing"]);
    expect(error.message).toContain(`nothing came from ${own.host} for 1 seconds. Check the address of its registry`);
  });

  test("fetch() reports an invalid response of a registry", async () => {
    await using world = await dockerImages();
    await using rubbish = registryFront(() => new Response("<html>\u0007 hello \u202e</html>", { headers: API }));
    const error = await failureOf(registryOf(world).fetch(pullRequest(`${rubbish.host}/test/a:1`)));
    expect([error.kind, error.code]).toEqual(["invalid", "image_missing"]);
    expect(error.message).toStartWith(`Cannot get the image ${rubbish.host}/test/a:1: `);
    // oxlint-disable-next-line no-control-regex
    expect(error.message).not.toMatch(/[\u0000-\u001f\u202e]/);
    expect(error.message.length).toBeLessThan(600);
  });

  test("fetch() reports an error that occurs during the transfer", async () => {
    await using own = await OwnRegistry.start();
    await using world = await dockerImages();
    await own.push(`${own.host}/test/broken:1`);
    await using front = registryFront(
      (path) => (path.includes("/blobs/") ? new Response("no blob", { status: 404 }) : undefined),
      own.direct,
    );
    const error = await failureOf(registryOf(world).fetch(pullRequest(`${front.host}/test/broken:1`)));
    expect([error.kind, error.code]).toEqual(["invalid", "image_missing"]);
    expect(await world.images.list()).toEqual([]);
  });

  test("fetch() reports when a registry requires a login, even for an image that exists", async () => {
    await using own = await OwnRegistry.start();
    await using world = await dockerImages();
    let isLocked = false;
    const headers = { ...API, "www-authenticate": 'Basic realm="test"' };
    const refusal = () =>
      Response.json(
        { errors: [{ code: "UNAUTHORIZED", message: "authentication required" }] },
        { status: 401, headers },
      );
    await using front = registryFront(() => (isLocked ? refusal() : undefined), own.direct);
    await own.push(`${own.host}/test/locked:1`);
    const registry = registryOf(world);
    await registry.fetch(pullRequest(`${front.host}/test/locked:1`));
    isLocked = true;
    for (const name of ["locked:1", "other:1"]) {
      const error = await failureOf(registry.fetch(pullRequest(`${front.host}/test/${name}`, { pull: "always" })));
      expect([error.kind, error.code]).toEqual(["invalid", "image_missing"]);
      expect(error.message).toContain("The registry requires a login for it, or has no such image");
    }
  });

  test("fetch() reports when the engine becomes unavailable in the middle", async () => {
    await using own = await OwnRegistry.start();
    await using world = await dockerImages();
    using gate = await engineGate();
    own.gate.freeze();
    const log = (line: string) => void (line.startsWith("Pulling") && setTimeout(() => gate.cut(), 100));
    const request = pullRequest(`${own.host}/test/a:1`, { log });
    const error = await failureOf(registryOf(world, { host: gate.host }).fetch(request));
    expect([error.kind, error.code]).toEqual(["unavailable", "engine_away"]);
  });

  test("fetch() checks the host of a registry before it connects", async () => {
    await using world = await dockerImages();
    const checked: string[] = [];
    const refused = new Error("not there");
    const checkHost = async (host: string) => {
      checked.push(host);
      throw refused;
    };
    const { images, installation } = world;
    const registry = new DockerImageRegistry({ engine: new EngineApi(DOCKER_HOST), installation, images, checkHost });
    for (const [reference, host] of [
      ["127.0.0.1:1/a/b:1", "127.0.0.1"],
      ["slipway-no-such-image", "docker.io"],
    ] as const) {
      expect(await registry.fetch(pullRequest(reference)).catch((error: unknown) => error)).toBe(refused);
      expect(checked.at(-1)).toBe(host);
    }
    await tinyImage();
    await registry.fetch(pullRequest("slipway-test-tiny"));
    expect(checked).toHaveLength(2);
  });
});

describe("the image of one project", () => {
  test("is not available to another one: neither to its Dockerfile nor as a service", async () => {
    await using world = await dockerImages();
    const owner = { deploymentId: newId("dep"), projectId: newId("prj"), service: "app" };
    const image = await world.make(owner, { "/secret": "theirs" });
    const engine = new EngineApi(DOCKER_HOST);
    const { RepoTags } = await engine.json<{ RepoTags: string[] }>("GET", `/images/${image}/json`);
    const [name] = RepoTags as [string];
    // A stranger may know the ids, but neither the digest in the name nor the image's digest.
    const guesses = [
      `slipway/${owner.projectId}:${owner.deploymentId}`,
      `slipway/${owner.projectId}-${"0".repeat(32)}:${owner.deploymentId}`,
      `slipway/${owner.projectId}-*:${owner.deploymentId}`,
      `slipway/${owner.projectId}`,
    ];
    const folder = await world.folder({});
    for (const guess of guesses) {
      for (const text of [`FROM ${guess}\n`, `FROM scratch\nCOPY --from=${guess} /secret /\n`]) {
        const request = imageRequest({ folder, dockerfile: { text } });
        const error = await failureOf(world.builder.build(request));
        expect([text, error.kind]).toEqual([text, "invalid"]);
        expect(await world.images.find(request.deploymentId, "app")).toBeUndefined();
      }
    }
    const registry = registryOf(world);
    for (const reference of [name, name.split(":")[0]!, `docker.io/${name}`, image, ...guesses.filter(isPlain)]) {
      const error = await failureOf(registry.fetch(pullRequest(reference)));
      expect([reference, error.kind, error.code]).toEqual([reference, "invalid", "image_foreign"]);
    }
    const own = pullRequest(name, { owner: { ...owner, service: "again" } });
    expect((await registry.fetch(own)).image).toBe(image);
    await using elsewhere = await dockerImages();
    const sameProject = pullRequest(name, { owner });
    expect((await failureOf(registryOf(elsewhere).fetch(sameProject))).code).toBe("image_foreign");
  });
});

function isPlain(reference: string): boolean {
  return !reference.includes("*");
}
