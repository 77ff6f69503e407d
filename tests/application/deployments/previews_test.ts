import { describe, expect, test } from "bun:test";
import { MemoryEdge } from "../../../adapters/memory/edge.ts";
import { followLiveReleases } from "../../../application/deployments/follow_live_releases.ts";
import { sweepReleases } from "../../../application/deployments/cleanup/sweep_releases.ts";
import type { Deployment } from "../../../domain/deployments/deployment.ts";
import type { Project } from "../../../domain/projects/project.ts";
import { EngineScene, REPOSITORY, SITE } from "../../support/apps/engine_scene.ts";
import { eventually } from "../../support/eventually.ts";
import { intercepted } from "../../support/faults/intercepted.ts";

async function previews(scene: EngineScene, project: Project, count: number): Promise<Deployment[]> {
  const made: Deployment[] = [];
  for (let index = 0; index < count; index++) {
    scene.memory.clock.advance(1_000);
    made.push(await scene.deployed(project, { environment: "preview" }));
  }
  return made;
}

const ids = (deployments: readonly Deployment[]) => deployments.map(({ id }) => id).toSorted();
const hostOf = ({ urls }: Deployment) => new URL(urls[0]!).hostname;

/** What exists of some deployments. */
async function left(scene: EngineScene, deployments: readonly Deployment[]) {
  const [folders, running] = [await scene.folders(), await scene.running()];
  const own = (found: readonly string[]) => ids(deployments).filter((id) => found.includes(id));
  const routed = deployments.filter((deployment) => scene.memory.edge.routeOf(hostOf(deployment), "/"));
  return { folders: own(folders), running: own(running), routed: ids(routed) };
}

/** Expects that exactly these exist completely, and nothing of the others. */
async function expectLeft(scene: EngineScene, all: readonly Deployment[], kept: readonly Deployment[]): Promise<void> {
  const whole = { folders: ids(kept), running: ids(kept), routed: ids(kept) };
  expect(
    await eventually(
      () => left(scene, all),
      (found) => Bun.deepEquals(found, whole),
    ),
  ).toEqual(whole);
  for (const { id } of all) {
    const stays = kept.some((deployment) => deployment.id === id);
    const stored = await scene.memory.deployments.get(id);
    expect(stored).toMatchObject({ status: "ready", artifactAvailable: stays });
    expect(stored?.services.map(({ status }) => status)).toEqual([stays ? "healthy" : "stopped"]);
  }
}

describe("previews", () => {
  test("are announced to other processes once they are ready", async () => {
    await using scene = await EngineScene.open();
    const project = await scene.project();
    const known: (string | undefined)[] = [];
    const look = async (key: string | null) => known.push((await scene.world.liveReleases.find(key!))?.deployment.id);
    const seen: Promise<unknown>[] = [];
    const forget = scene.world.liveReleases.onChange((key) => void seen.push(look(key)));
    const [preview] = await previews(scene, project, 1);
    await eventually(
      async () => known,
      (found) => found.includes(preview!.id),
    );
    await Promise.all(seen);
    forget();
    expect(known).toContain(preview!.id);
  });

  test("are limited to the newest ones within the window; of the others nothing is left", async () => {
    await using scene = await EngineScene.open({ engine: { rollbackWindow: 3 } });
    const project = await scene.project();
    const made = await previews(scene, project, 8);
    await expectLeft(scene, made, made.slice(-3));
    expect((await scene.memory.liveReleases.list()).map(({ deployment }) => deployment.id).toSorted()).toEqual(
      ids(made.slice(-3)),
    );
  });

  test("keep at least one, however small the window", async () => {
    await using scene = await EngineScene.open();
    const made = await previews(scene, await scene.project({ gitUrl: REPOSITORY, rollbackWindow: 0 }), 3);
    await expectLeft(scene, made, made.slice(-1));
  });

  test("of one project leave those of another and the live releases alone", async () => {
    await using scene = await EngineScene.open({ engine: { rollbackWindow: 1 } });
    const [project, other] = [await scene.project(), await scene.project()];
    const live = await scene.deployed(project);
    const [foreign] = await previews(scene, other, 1);
    const made = await previews(scene, project, 3);
    await expectLeft(scene, made, made.slice(-1));
    await expectLeft(scene, [live, foreign!], [live, foreign!]);
    expect(scene.served(project)).toBe(live.id);
  });

  test("that are pinned stay and do not count, until they are unpinned", async () => {
    await using scene = await EngineScene.open({ engine: { rollbackWindow: 1 } });
    const project = await scene.project();
    const [first] = await previews(scene, project, 1);
    await scene.useCases.pinDeployment(scene.by, first!.id, true);
    const made = [first!, ...(await previews(scene, project, 3))];
    await expectLeft(scene, made, [first!, made.at(-1)!]);
    await scene.useCases.pinDeployment(scene.by, first!.id, false);
    scene.memory.clock.advance(1_000);
    await scene.deployed(project);
    await expectLeft(scene, made, [made.at(-1)!]);
  });

  test("are ordered by when they went live, not by when they were requested", async () => {
    await using scene = await EngineScene.open({ engine: { rollbackWindow: 1 } });
    const project = await scene.project();
    const { id } = await scene.deploy(project, { environment: "preview", start: false });
    const [before] = await previews(scene, project, 1);
    scene.memory.clock.advance(1_000);
    await scene.useCases.startBuild(scene.by, id);
    const late = await scene.settled(id);
    await expectLeft(scene, [before!, late], [late]);
  });

  test("of static sites are removed with their files", async () => {
    await using scene = await EngineScene.open({ engine: { rollbackWindow: 1 } });
    scene.known.git[REPOSITORY] = { commits: [{ sha: "1", message: "m", branches: ["main"], files: SITE }] };
    const [first, second] = await previews(scene, await scene.project(), 2);
    const folders = await eventually(
      () => scene.folders(),
      (found) => found.length === 1,
    );
    expect(folders).toEqual([second!.id]);
    expect(scene.memory.edge.routeOf(hostOf(first!), "/")).toBeUndefined();
  });

  test("finish their responses before they are stopped, and keep their files in a sweep until then", async () => {
    await using scene = await EngineScene.open({ engine: { rollbackWindow: 1 } });
    const project = await scene.project();
    const [first] = await previews(scene, project, 1);
    const done = scene.memory.edge.begin(first!.services[0]!.instanceId!);
    const [second] = await previews(scene, project, 1);
    await sweepReleases(scene.memory, 1)();
    expect(await left(scene, [first!])).toEqual({ folders: [first!.id], running: [first!.id], routed: [] });
    done();
    await expectLeft(scene, [first!, second!], [second!]);
  });

  test("that were cleaned up are rebuilt from their commit by a rollback", async () => {
    await using scene = await EngineScene.open({ engine: { rollbackWindow: 1 } });
    const project = await scene.project();
    const made = await previews(scene, project, 2);
    scene.memory.clock.advance(1_000);
    await expect(scene.useCases.restartInstances(scene.by, made[0]!.id)).rejects.toMatchObject({
      code: "nothing_runs",
    });
    const back = await scene.settled((await scene.useCases.rollback(scene.by, made[0]!.id)).id);
    expect(back).toMatchObject({ status: "ready", environment: "preview", artifactOf: back.id });
    await expectLeft(scene, [...made, back], [back]);
  });

  test("share files with rollbacks to them as long as one of them stays", async () => {
    await using scene = await EngineScene.open({ engine: { rollbackWindow: 1 } });
    const project = await scene.project();
    const [first] = await previews(scene, project, 1);
    scene.memory.clock.advance(1_000);
    const back = await scene.settled((await scene.useCases.rollback(scene.by, first!.id)).id);
    expect(
      await eventually(
        () => scene.running(),
        (found) => found.length === 1,
      ),
    ).toEqual([back.id]);
    expect(back.artifactOf).toBe(first!.id);
    expect(await scene.folders()).toEqual([first!.id]);
    const [last] = await previews(scene, project, 1);
    expect(
      await eventually(
        () => scene.folders(),
        (found) => found.length === 1,
      ),
    ).toEqual([last!.id]);
  });

  test("that exceed a smaller window are ended by the sweep", async () => {
    await using scene = await EngineScene.open({ engine: { rollbackWindow: 3 } });
    const project = await scene.project();
    const made = await previews(scene, project, 3);
    await sweepReleases(scene.memory, 3)();
    await expectLeft(scene, made, made);
    await scene.useCases.changeProject(scene.by, project.id, { settings: { rollbackWindow: 2 } });
    await sweepReleases(scene.memory, 3)();
    await expectLeft(scene, made, made.slice(-2));
  });

  test("that are pinned at the last moment stay", async () => {
    const pinned: string[] = [];
    await using scene = await EngineScene.open({
      engine: { rollbackWindow: 1 },
      replace: ({ deployments }) => ({
        // A reader of all deployments learns of the pin too late.
        deployments: intercepted(deployments, "ofProject", async (goOn) => {
          const all = await goOn();
          for (const id of pinned)
            await deployments.change(id, (stored) => ({ deployment: { ...stored, pinned: true }, events: [] }));
          return all;
        }),
      }),
    });
    const project = await scene.project();
    const [first] = await previews(scene, project, 1);
    pinned.push(first!.id);
    const [second] = await previews(scene, project, 1);
    await expectLeft(scene, [first!, second!], [first!, second!]);
  });
});

describe("an edge in another process", () => {
  test.each(["cleaned up", "deleted"])("drops a preview that is %s", async (how) => {
    await using scene = await EngineScene.open({ engine: { rollbackWindow: 1 } });
    const edge = new MemoryEdge();
    const follow = followLiveReleases({ ...scene.memory, edge }, { baseDomain: "localhost" });
    const turns: Promise<boolean>[] = [];
    scene.memory.liveReleases.onChange((key) => void turns.push(follow(key)));
    const project = await scene.project();
    const [first] = await previews(scene, project, 1);
    await follow(first!.id);
    expect(edge.routeOf(hostOf(first!), "/")?.servedBy).toStartWith(first!.id);
    if (how === "deleted") await scene.useCases.removeDeployment(scene.by, first!.id);
    else await previews(scene, project, 1);
    await Promise.all(turns);
    expect(edge.routeOf(hostOf(first!), "/")).toBeUndefined();
  });
});
