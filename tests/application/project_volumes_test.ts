import { describe, expect, test } from "bun:test";
import type { Failure } from "../../domain/failure.ts";
import type { Project } from "../../domain/projects/project.ts";
import { away } from "../../adapters/docker/engine/engine_api.ts";
import { EngineScene, SITE } from "../support/apps/engine_scene.ts";
import { intercepted } from "../support/faults/intercepted.ts";
import { deployShop, SHOP, shop, shopProject, shopScene } from "../support/apps/service_scene.ts";

/** A project with a volume, and a preview with another. */
async function withPreview(scene: EngineScene): Promise<{ project: Project; preview: string }> {
  const project = await shopProject(scene);
  await deployShop(scene, project, SHOP);
  const preview = await scene.deployed(project, { services: shop(SHOP), environment: "preview" });
  return { project, preview: preview.id };
}

const list = (scene: EngineScene, { id }: Pick<Project, "id">) => scene.useCases.listVolumes(scene.by, id);

describe("listVolumes()", () => {
  test("lists the volumes of the project and of its previews with their sizes", async () => {
    await using scene = await shopScene();
    const { project, preview } = await withPreview(scene);
    const other = await withPreview(scene);
    const { volumes } = scene.memory;
    volumes.sizes.set(volumes.engineName({ scope: project.id, name: "data" }), 4_096);
    expect(await list(scene, project)).toEqual([
      { name: "data", environment: "production", deploymentId: null, sizeBytes: 4_096 },
      { name: "data", environment: "preview", deploymentId: preview, sizeBytes: 0 },
    ]);
    expect((await list(scene, other.project)).map(({ deploymentId }) => deploymentId)).toEqual([null, other.preview]);
  });

  test("sends no request to the engine for a project that runs as a process, though others use containers", async () => {
    const requests: string[] = [];
    await using scene = await EngineScene.open({
      replace: ({ volumes }) => ({
        volumes: intercepted(volumes, "measure", async () => {
          requests.push("measure");
          throw away("it is not there");
        }),
      }),
    });
    await scene.memory.installation.noteContainers();
    const project = await scene.project();
    await scene.deployed(project);
    expect(await list(scene, project)).toEqual([]);
    expect(requests).toEqual([]);
  });

  test("reports that the engine is unavailable when there may be volumes", async () => {
    await using scene = await shopScene({
      replace: ({ volumes }) => ({
        volumes: intercepted(volumes, "measure", async () => {
          throw away("nothing answers there");
        }),
      }),
    });
    const project = await shopProject(scene);
    await deployShop(scene, project, SHOP);
    expect(list(scene, project)).rejects.toMatchObject({ code: "engine_away" });
  });
});

describe("removeProject()", () => {
  test("keeps volumes by default", async () => {
    await using scene = await shopScene();
    const { project } = await withPreview(scene);
    await scene.useCases.removeProject(scene.by, project.id);
    expect(await scene.memory.volumes.list(project.id)).toHaveLength(1);
  });

  test("removes those of the project and its previews on request, and no others", async () => {
    await using scene = await shopScene();
    const { project, preview } = await withPreview(scene);
    const other = await withPreview(scene);
    scene.memory.volumes.external.add("shared");
    await scene.useCases.removeProject(scene.by, project.id, { volumes: true });
    for (const scope of [project.id, preview]) expect(await scene.memory.volumes.list(scope)).toEqual([]);
    for (const scope of [other.project.id, other.preview])
      expect(await scene.memory.volumes.list(scope)).toHaveLength(1);
    expect([...scene.memory.volumes.external]).toEqual(["shared"]);
  });

  test("removes nothing at all when volumes should be removed and the engine is unavailable", async () => {
    let isAway = false;
    await using scene = await shopScene({
      replace: ({ volumes }) => ({
        volumes: intercepted(volumes, "list", async (goOn) => {
          if (isAway) throw away("nothing answers there");
          return goOn();
        }),
      }),
    });
    const { project } = await withPreview(scene);
    isAway = true;
    const removal = scene.useCases.removeProject(scene.by, project.id, { volumes: true });
    expect(await removal.catch((error: Failure) => error.code)).toBe("engine_away");
    expect(await scene.memory.projects.find(project.organizationId, project.id)).toBeDefined();
    await scene.useCases.removeProject(scene.by, project.id);
    expect(await scene.memory.projects.find(project.organizationId, project.id)).toBeUndefined();
  });

  test("reports which volumes stay because something else uses them", async () => {
    await using scene = await shopScene();
    const { project } = await withPreview(scene);
    const { memory } = scene;
    const mounts = [{ kind: "volume", name: "data", target: "/x", readOnly: false }] as const;
    const runs = { kind: "image", image: "sha256:0", command: null, ports: [], mounts } as const;
    const [known] = memory.runtime.started;
    memory.volumes.use({ ...known!, instanceId: "made-by-hand", scope: project.id, runs } as never);
    const removal = scene.useCases.removeProject(scene.by, project.id, { volumes: true });
    const failure = await removal.then(() => undefined).catch((error: Failure) => error);
    expect([failure?.code, failure?.message]).toEqual([
      "volumes_left",
      'Cannot remove all volumes of the project: "data" is still in use. The project is deleted; stop what uses it, then remove it with Docker',
    ]);
    expect(await memory.projects.find(project.organizationId, project.id)).toBeUndefined();
  });

  test("needs no engine for a project of files, even when its volumes are to be removed", async () => {
    await using scene = await EngineScene.open({
      replace: ({ volumes }) => ({
        volumes: intercepted(volumes, "list", async () => {
          throw away("nothing answers there");
        }),
      }),
    });
    const uploadSessionId = await scene.upload(SITE);
    const project = await scene.project({});
    await scene.deployed(project, { uploadSessionId });
    await scene.useCases.removeProject(scene.by, project.id, { volumes: true });
    expect(await scene.memory.projects.find(project.organizationId, project.id)).toBeUndefined();
  });
});
