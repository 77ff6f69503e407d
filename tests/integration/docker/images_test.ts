import { describe, expect, test } from "bun:test";
import { utimes } from "node:fs/promises";
import { join } from "node:path";
import { EngineApi } from "../../../adapters/docker/engine/engine_api.ts";
import { DockerImageBuilder } from "../../../adapters/docker/build/image_builder.ts";
import { newId } from "../../../domain/id.ts";
import { failureOf, imageBuilderContract, imageRequest } from "../../contracts/image_builder.ts";
import { filesOf, releaseImagesContract } from "../../contracts/release_images.ts";
import { run } from "../../support/runner/command.ts";
import { BASE, dockerImages } from "../../support/peers/docker_images.ts";
import { tinyImage } from "../../support/peers/docker_world.ts";
import { OwnEngine } from "../../support/peers/own_engine.ts";

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
      folder: world.folder,
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
    isThere: own.isThere,
    bring: () => tinyImage(),
    use: own.use,
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

describe("DockerImageBuilder.identify()", () => {
  const buildPlan = { dockerfile: { text: "FROM scratch\n" }, args: new Map<string, string>() };

  test("needs no engine, and does not depend on file times", async () => {
    await using world = await dockerImages();
    const folder = await world.folder({ "a/b": "b", large: new Uint8Array(300_000).fill(1) });
    const digest = await world.builder.identify({ ...buildPlan, folder });
    await utimes(join(folder, "a/b"), 1, 1);
    await utimes(join(folder, "a"), 1, 1);
    expect(await away.identify({ ...buildPlan, folder })).toBe(digest);
    await Bun.write(join(folder, "large"), new Uint8Array(300_000).fill(1).with(299_999, 2));
    expect(await away.identify({ ...buildPlan, folder })).not.toBe(digest);
  });
});

describe("DockerReleaseImages", () => {
  test("list() and remove() find the images that earlier releases created, by the same names", async () => {
    await using world = await dockerImages();
    const [projectId, deploymentId] = [newId("prj"), newId("dep")];
    const digest = new Bun.CryptoHasher("sha256").update(`${world.installation} ${projectId}`).digest("hex");
    const name = `slipway/${projectId}-${digest.slice(0, 32)}:${deploymentId}`;
    const image = await tinyImage();
    expect((await run(["docker", "tag", image, name])).ok).toBe(true);
    expect((await run(["docker", "tag", image, `slipway/${projectId}:${deploymentId}`])).ok).toBe(true);
    expect(await world.images.list()).toMatchObject([{ projectId, deploymentId, service: "app", image }]);
    await world.images.remove(deploymentId);
    expect(await world.images.list()).toEqual([]);
    expect((await run(["docker", "image", "rm", `slipway/${projectId}:${deploymentId}`])).ok).toBe(true);
    expect(await world.isThere(image)).toBe(true);
  });

  test("trim() removes unused layers of this installation alone, and the least recently used cache", async () => {
    await tinyImage();
    await using engine = await OwnEngine.start([BASE]);
    await using world = await dockerImages({}, engine.host);
    const own = { deploymentId: newId("dep"), projectId: newId("prj") };
    await world.make(own);
    const untagged = async (label: string) => {
      const folder = await world.folder({ Dockerfile: `FROM ${BASE}\nLABEL x=${crypto.randomUUID()}\n` });
      return engine.docker("build", "--quiet", "--label", label, folder);
    };
    const [ours, theirs] = [
      await untagged(`slipway.installation=${world.installation}`),
      await untagged("slipway.installation=other"),
    ];
    const cached = async (name: string) => {
      const text = `FROM ${BASE}\nRUN echo ${name}; head -c 4000000 /dev/zero > /big\n`;
      const request = imageRequest({ folder: await world.folder({}), dockerfile: { text } });
      await world.builder.build(request);
      await world.images.remove(request.deploymentId);
      return request.lines.includes("[2/2] CACHED");
    };
    for (const name of ["old", "new"]) expect(await cached(name)).toBe(false);
    await world.images.trim(Number.POSITIVE_INFINITY);
    for (const name of ["old", "new"]) expect(await cached(name)).toBe(true);
    await world.images.trim(6_000_000);
    expect([await cached("new"), await cached("old")]).toEqual([true, false]);
    const left = await engine.docker("images", "--all", "--quiet", "--no-trunc");
    expect([left.includes(ours), left.includes(theirs)]).toEqual([false, true]);
    expect(await world.images.find(own.deploymentId, "app")).toBeDefined();
    await world.images.trim(0);
    expect([await cached("new"), await cached("old")]).toEqual([false, false]);
  });

  test("archive() follows a link to a folder, and distinguishes an empty one from one with files", async () => {
    await using world = await dockerImages();
    const text = `FROM ${BASE}\nRUN mkdir -p /app/out/sub /app/empty/sub && echo 1 >/app/out/sub/file && ln -s out /app/dist && ln -s /etc/x /app/out/link\n`;
    const { image } = await world.builder.build(imageRequest({ folder: await world.folder({}), dockerfile: { text } }));
    expect(await filesOf(await world.images.archive(image, "/app/dist"))).toEqual({
      "dist/": null,
      "dist/link": null,
      "dist/sub/": null,
      "dist/sub/file": "1\n",
    });
    expect((await failureOf(world.images.archive(image, "/app/empty"))).code).toBe("output_missing");
    expect((await failureOf(world.images.archive(`sha256:${"0".repeat(64)}`, "/app"))).code).toBe("image_not_found");
  });
});
