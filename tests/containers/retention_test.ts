import { expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EngineApi } from "../../adapters/docker/engine/engine_api.ts";
import { DockerImageBuilder } from "../../adapters/docker/build/image_builder.ts";
import { DockerReleaseImages } from "../../adapters/docker/images/release_images.ts";
import { LocalReleaseFolders } from "../../adapters/local/release_folders.ts";
import { DOCKER_HOST } from "../support/peers/docker_world.ts";
import { EngineScene } from "../support/apps/engine_scene.ts";

const DEPLOYMENTS = 40;
const PINNED = [4, 20];

test("of forty deployments the live one, a window of 3 and two pinned ones keep their images, and no others", async () => {
  const folder = await mkdtemp(join(tmpdir(), "slipway-"));
  const engine = new EngineApi(DOCKER_HOST);
  const installation = crypto.randomUUID();
  const releaseImages = new DockerReleaseImages({ engine, installation });
  let round = 0;
  await using scene = await EngineScene.open({
    engine: { runtime: "docker", rollbackWindow: 3, buildTimeoutMs: 60_000 },
    replace: () => ({
      imageBuilder: new DockerImageBuilder({ engine, installation }),
      releaseImages,
      releaseFolders: new LocalReleaseFolders(join(folder, "releases")),
      sources: {
        async fetch(_source, into) {
          await writeFile(
            join(into.folder, "Dockerfile"),
            'FROM scratch\nCOPY version /\nEXPOSE 80\nCMD ["/version"]\n',
          );
          await writeFile(join(into.folder, "version"), String(round));
          return { commitSha: null, commitMessage: null };
        },
      },
    }),
  });
  try {
    const project = await scene.project();
    const made: { readonly id: string; readonly image: string | null }[] = [];
    for (; round < DEPLOYMENTS; round++) {
      scene.memory.clock.advance(1);
      const { id, image } = await scene.deployed(project);
      made.push({ id, image });
      if (PINNED.includes(round)) await scene.useCases.pinDeployment(scene.by, id, true);
    }
    const expected = [...PINNED.map((index) => made[index]!), ...made.slice(-4)];
    const kept = await releaseImages.list();
    expect(kept.map(({ deploymentId }) => deploymentId).toSorted()).toEqual(expected.map(({ id }) => id).toSorted());
    for (const { id, image } of expected) expect((await releaseImages.find(id, "app"))?.image).toBe(image!);
    const all = await engine.json<unknown[]>("GET", "/images/json", {
      query: { all: true, filters: JSON.stringify({ label: [`slipway.installation=${installation}`] }) },
    });
    expect(all).toHaveLength(expected.length);
    const back = await scene.settled((await scene.useCases.rollback(scene.by, made[4]!.id)).id);
    expect(back).toMatchObject({ status: "ready", image: made[4]!.image });
  } finally {
    for (const { deploymentId } of await releaseImages.list()) await releaseImages.remove(deploymentId);
    await rm(folder, { recursive: true });
  }
});
