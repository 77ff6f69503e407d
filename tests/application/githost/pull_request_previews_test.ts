import { describe, expect, test } from "bun:test";
import { sweepReleases } from "../../../application/deployments/cleanup/sweep_releases.ts";
import { previewPullRequest } from "../../../application/githost/preview_pull_request.ts";
import type { Deployment } from "../../../domain/deployments/deployment.ts";
import type { PullRequest } from "../../../domain/githost/pull_request.ts";
import { PREVIEW_DEFAULTS, type PreviewSettings } from "../../../domain/projects/previews.ts";
import type { Project, ProjectSettings } from "../../../domain/projects/project.ts";
import { Secret } from "../../../domain/secret.ts";
import { APP, commit, EngineScene, REPOSITORY } from "../../support/apps/engine_scene.ts";
import { eventually } from "../../support/eventually.ts";

const HOUR = 3_600_000;
const RULES = { mode: "self-hosted", roots: [], dataFolder: "/var/lib/slipway" } as const;

/** A project that makes previews of pull requests, with a deployment in production. */
async function previewing(
  scene: EngineScene,
  { previews = {}, settings = {} }: { previews?: Partial<PreviewSettings>; settings?: ProjectSettings } = {},
) {
  const linked = await scene.project({ gitOwner: "acme", gitRepo: "shop", ...settings });
  const apply = (wanted: Partial<PreviewSettings>) =>
    scene.useCases.changeProject(scene.by, linked.id, {
      settings: { previews: { ...PREVIEW_DEFAULTS, enabled: true, ...previews, ...wanted } },
    });
  const project = await apply({});
  const live = await scene.deployed(project);
  const report = previewPullRequest({ ...scene.world, githostUrl: "https://git.example.com", localSources: RULES });
  let commits = 0;
  const sweep = sweepReleases(scene.world, 2);
  return {
    project,
    live,
    apply,
    sweep,
    /** Reports a change of a pull request, by default a push. */
    async report(number: number, change: Partial<PullRequest> = {}) {
      scene.memory.clock.advance(1_000);
      const made = commit(`b${number}${commits++}`, APP, ["feature"]);
      const { commits: known } = scene.known.git[REPOSITORY]!;
      scene.known.git[REPOSITORY] = { commits: [...known, made] };
      const current = (await scene.world.projects.find(project.organizationId, project.id))!;
      const pullRequest = {
        repository: { owner: "acme", repo: "shop" },
        number,
        change: "changed",
        headSha: made.sha,
        branch: "feature",
        fork: false,
        changedAt: scene.memory.clock.now(),
      } as const;
      return report({ ...pullRequest, ...change }, current);
    },
  };
}

type Previewing = Awaited<ReturnType<typeof previewing>>;

/** Pushes to a pull request, and waits until its preview has settled. */
async function preview(scene: EngineScene, { report }: Previewing, number: number, change: Partial<PullRequest> = {}) {
  const { deploymentId, reason } = await report(number, change);
  if (deploymentId === null) throw new Error(reason);
  if (change.fork) await scene.useCases.startBuild(scene.by, deploymentId);
  const settled = await scene.settled(deploymentId);
  expect(settled).toMatchObject({ status: "ready", environment: "preview" });
  return settled;
}

const hostOf = ({ urls }: Deployment) => new URL(urls[0]!).hostname;
const routed = (scene: EngineScene, hostname: string) =>
  scene.memory.edge.routeOf(hostname, "/")?.servedBy.split("-")[0];

/** Waits until exactly these of all deployments have a folder and an instance. */
async function expectLeft(scene: EngineScene, kept: readonly Deployment[]): Promise<void> {
  const ids = kept.map(({ id }) => id).toSorted();
  const whole = { folders: ids, running: ids };
  const left = await eventually(
    async () => ({ folders: (await scene.folders()).toSorted(), running: (await scene.running()).toSorted() }),
    (found) => Bun.deepEquals(found, whole),
  );
  expect(left).toEqual(whole);
}

describe("the preview of a pull request", () => {
  test("keeps its address from push to push, and only the newest stays", async () => {
    await using scene = await EngineScene.open();
    const shop = await previewing(scene);
    const hosts = new Set<string>();
    for (let push = 0; push < 4; push++) {
      const made = await preview(scene, shop, 7);
      hosts.add(hostOf(made));
      expect(routed(scene, hostOf(made))).toBe(made.id);
      await expectLeft(scene, [shop.live, made]);
      expect(routed(scene, hostOf(made))).toBe(made.id);
    }
    expect([...hosts]).toEqual([`${shop.project.slug}-pr7-${shop.project.id.slice(-6)}.localhost`]);
    expect(scene.served(shop.project)).toBe(shop.live.id);
  });

  test("stays while a push to it fails", async () => {
    await using scene = await EngineScene.open();
    const shop = await previewing(scene);
    const first = await preview(scene, shop, 7);
    scene.healthy = () => false;
    const { deploymentId } = await shop.report(7);
    expect((await scene.settled(deploymentId!)).status).toBe("failed");
    expect(routed(scene, hostOf(first))).toBe(first.id);
    await expectLeft(scene, [shop.live, first]);
  });

  test("ends when it is closed: nothing of it is left", async () => {
    await using scene = await EngineScene.open();
    const shop = await previewing(scene);
    const [one, other] = [await preview(scene, shop, 7), await preview(scene, shop, 8)];
    expect(await shop.report(7, { change: "closed" })).toMatchObject({ decision: "applied" });
    expect(routed(scene, hostOf(one))).toBeUndefined();
    expect(routed(scene, hostOf(other))).toBe(other.id);
    await expectLeft(scene, [shop.live, other]);
    expect(await scene.memory.deployments.get(one.id)).toMatchObject({ status: "ready", artifactAvailable: false });
  });

  test("that is being deployed when it is closed does not stay", async () => {
    await using scene = await EngineScene.open();
    const shop = await previewing(scene);
    scene.scriptBuild({ hangs: true });
    const { deploymentId } = await shop.report(7);
    await scene.inStep(deploymentId!, "build");
    await shop.report(7, { change: "closed" });
    expect((await scene.settled(deploymentId!)).status).toBe("cancelled");
    await expectLeft(scene, [shop.live]);
  });

  test("that was too late to cancel ends with the next sweep", async () => {
    await using scene = await EngineScene.open();
    const shop = await previewing(scene);
    const made = await preview(scene, shop, 7);
    // As if the pull request had been closed after traffic was switched.
    await scene.memory.deployments.change(made.id, (stored) => ({
      deployment: { ...stored, pullRequest: { ...stored.pullRequest!, closed: true } },
      events: [],
    }));
    await shop.sweep();
    await expectLeft(scene, [shop.live]);
  });

  test("is the oldest to end when there are too many; those of others and requested ones stay", async () => {
    await using scene = await EngineScene.open();
    const shop = await previewing(scene, { previews: { max: 2 } });
    const requested = await scene.deployed(shop.project, { environment: "preview" });
    const made: Deployment[] = [];
    for (const number of [1, 2, 3]) made.push(await preview(scene, shop, number));
    await expectLeft(scene, [shop.live, requested, made[1]!, made[2]!]);
    // A push makes it the newest.
    const again = await preview(scene, shop, 2);
    const last = await preview(scene, shop, 4);
    await expectLeft(scene, [shop.live, requested, again, last]);
  });

  test("ends when its time is up, unless it is pinned", async () => {
    await using scene = await EngineScene.open();
    const shop = await previewing(scene, { previews: { ttlHours: 2 } });
    const [old, pinned] = [await preview(scene, shop, 1), await preview(scene, shop, 2)];
    await scene.useCases.pinDeployment(scene.by, pinned.id, true);
    scene.memory.clock.advance(HOUR);
    const young = await preview(scene, shop, 3);
    await shop.sweep();
    await expectLeft(scene, [shop.live, old, pinned, young]);
    scene.memory.clock.advance(HOUR);
    await shop.sweep();
    await expectLeft(scene, [shop.live, pinned, young]);
  });

  test("ends with a smaller maximum, and when previews are turned off", async () => {
    await using scene = await EngineScene.open();
    const shop = await previewing(scene);
    const made: Deployment[] = [];
    for (const number of [1, 2, 3]) made.push(await preview(scene, shop, number));
    await shop.apply({ max: 1 });
    await shop.sweep();
    await expectLeft(scene, [shop.live, made[2]!]);
    await scene.useCases.switchPreviews(scene.by, shop.project.id, { enabled: false }, AbortSignal.timeout(60_000));
    await expectLeft(scene, [shop.live]);
  });

  test("is redeployed and rolled back within its pull request", async () => {
    await using scene = await EngineScene.open();
    const shop = await previewing(scene);
    const first = await preview(scene, shop, 7);
    await scene.useCases.pinDeployment(scene.by, first.id, true);
    const second = await preview(scene, shop, 7);
    const redeployed = await scene.settled((await scene.useCases.redeploy(scene.by, second.id, {})).id);
    expect(redeployed).toMatchObject({ status: "ready", pullRequest: { number: 7 }, urls: second.urls });
    const back = await scene.settled((await scene.useCases.rollback(scene.by, first.id)).id);
    expect(back).toMatchObject({ status: "ready", pullRequest: { number: 7 }, urls: first.urls });
    expect(routed(scene, hostOf(back))).toBe(back.id);
  });
});

async function set(scene: EngineScene, { id }: Project, environment: "production" | "preview") {
  const upserts = [{ key: "TOKEN", value: new Secret(`canary-of-${environment}`), secret: true }];
  await scene.useCases.changeVariables(scene.by, id, { upserts, deletes: [], environment });
}

describe("a pull request from a fork", () => {
  test("gets no variables, and a cache of its own; one from the repository gets those of previews", async () => {
    await using scene = await EngineScene.open();
    const shop = await previewing(scene);
    await set(scene, shop.project, "production");
    await set(scene, shop.project, "preview");
    const own = await preview(scene, shop, 7);
    const fork = await preview(scene, shop, 8, { fork: true, branch: null });
    const seen = (id: string) => {
      const started = scene.memory.runtime.started.filter(({ deploymentId }) => deploymentId === id);
      const built = scene.memory.builder.requests.filter(({ deploymentId }) => deploymentId === id);
      const values = [...started, ...built].map(({ environment }) => environment.get("TOKEN")?.reveal());
      return { values, keys: built.map(({ cacheKey }) => cacheKey) };
    };
    expect(seen(own.id)).toEqual({
      values: ["canary-of-preview", "canary-of-preview"],
      keys: [`${shop.project.id}_previews`],
    });
    expect(seen(fork.id)).toEqual({ values: [undefined, undefined], keys: [`${shop.project.id}_pr8`] });
    expect((await scene.memory.deployments.environment(fork.id)).size).toBe(0);
  });

  test("builds nothing before it is approved, and holds up nothing", async () => {
    await using scene = await EngineScene.open();
    const shop = await previewing(scene);
    const { deploymentId } = await shop.report(8, { fork: true, branch: null });
    expect(await scene.deployed(shop.project)).toMatchObject({ status: "ready" });
    await preview(scene, shop, 7);
    expect(await scene.memory.deployments.get(deploymentId!)).toMatchObject({ status: "queued", steps: [] });
    expect(scene.memory.builder.requests.some((request) => request.deploymentId === deploymentId)).toBe(false);
  });

  test("is fetched with a credential for its own repository only", async () => {
    const asked: string[] = [];
    const credentialFor = async (_: Project, { url }: { readonly url: string }) => void asked.push(url);
    await using scene = await EngineScene.open({ engine: { credentialFor: credentialFor as never } });
    const given: ((url: string) => Promise<unknown>)[] = [];
    const { fetch } = scene.memory.sources;
    scene.memory.sources.fetch = (source, into) => {
      given.push(into.credentialFor!);
      return fetch.call(scene.memory.sources, source, into);
    };
    const shop = await previewing(scene);
    await preview(scene, shop, 8, { fork: true, branch: null });
    asked.length = 0;
    expect(await given.at(-1)!("https://git.example.com/acme/private.git")).toBeUndefined();
    expect(asked).toEqual([]);
    await given.at(-1)!(REPOSITORY);
    expect(asked).toEqual([REPOSITORY]);
  });
});
