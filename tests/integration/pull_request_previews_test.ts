import { describe, expect, test } from "bun:test";
import type { Deployment } from "../../domain/deployments/deployment.ts";
import type { Project } from "../../domain/projects/project.ts";
import { Secret } from "../../domain/secret.ts";
import { EngineScene, REPOSITORY } from "../support/apps/engine_scene.ts";
import { expectLeft, hostOf, preview, previewing, routed } from "../support/apps/pull_request_scene.ts";
import { intercepted } from "../support/faults/intercepted.ts";

const HOUR = 3_600_000;
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
    const back = await scene.settled((await scene.useCases.rollback(scene.by, made.id)).id);
    // As if the server had been killed after it noted that.
    const noted = { repository: { owner: "acme", repo: "shop" }, number: 7, change: "closed" } as const;
    await scene.memory.pullRequests.note(shop.project, { ...noted, changedAt: scene.memory.clock.now() });
    await shop.sweep();
    await expectLeft(scene, [shop.live]);
    expect(routed(scene, hostOf(back))).toBeUndefined();
  });

  test("that is closed cannot come back by a redeploy or a rollback, until it is reopened", async () => {
    await using scene = await EngineScene.open();
    const shop = await previewing(scene);
    scene.healthy = () => false;
    const failed = await scene.settled((await shop.report(7)).deploymentId!);
    scene.healthy = () => true;
    const replaced = await preview(scene, shop, 7);
    await preview(scene, shop, 7);
    await shop.report(7, { change: "closed" });
    const { redeploy, rollback } = scene.useCases;
    const ended = { code: "pull_request_ended" };
    await expect(redeploy(scene.by, failed.id, {})).rejects.toMatchObject(ended);
    await expect(redeploy(scene.by, replaced.id, {})).rejects.toMatchObject(ended);
    await expect(rollback(scene.by, replaced.id)).rejects.toMatchObject(ended);
    await preview(scene, shop, 7);
    expect(await redeploy(scene.by, replaced.id, {})).toMatchObject({ trigger: "redeploy" });
  });

  test("does not come up if it was closed, or a newer push reported, while it was being queued", async () => {
    for (const later of ["closed", "changed"] as const) {
      const gate = Promise.withResolvers<void>();
      const isNoted = Promise.withResolvers<void>();
      let isFirst = true;
      await using scene = await EngineScene.open({
        replace: ({ pullRequests }) => ({
          pullRequests: intercepted(pullRequests, "note", async (proceed) => {
            const noted = await proceed();
            if (!isFirst) return noted;
            isFirst = false;
            isNoted.resolve();
            await gate.promise;
            return noted;
          }),
        }),
      });
      const shop = await previewing(scene);
      const opened = shop.report(7, { change: "opened" });
      await isNoted.promise;
      const newest = later === "closed" ? undefined : await preview(scene, shop, 7);
      if (later === "closed") await shop.report(7, { change: "closed" });
      gate.resolve();
      expect(await opened).toMatchObject({ decision: "superseded" });
      await expectLeft(scene, newest ? [shop.live, newest] : [shop.live]);
      if (newest) expect(routed(scene, hostOf(newest))).toBe(newest.id);
    }
  });

  test("is deployed once per commit, also if a killed server could not note that it had queued it", async () => {
    await using scene = await EngineScene.open();
    const shop = await previewing(scene);
    const made = await preview(scene, shop, 7);
    const again = { headSha: made.commitSha!, change: "changed" } as const;
    expect(await shop.report(7, again)).toMatchObject({ decision: "ignored", deploymentId: null });
    await shop.report(7, { ...again, change: "closed" });
    expect(await shop.report(7, again)).toMatchObject({ decision: "deployed" });
  });

  test("replaces a former push even if that is pinned, because both have one address", async () => {
    await using scene = await EngineScene.open();
    const shop = await previewing(scene);
    const first = await preview(scene, shop, 7);
    await scene.useCases.pinDeployment(scene.by, first.id, true);
    const second = await preview(scene, shop, 7);
    await expectLeft(scene, [shop.live, second]);
  });

  test("is cancelled when previews are turned off, or the project is linked to another repository", async () => {
    await using scene = await EngineScene.open();
    const shop = await previewing(scene);
    const held = await shop.report(8, { fork: true, branch: null });
    scene.scriptBuild({ hangs: true });
    const building = await shop.report(7);
    await scene.inStep(building.deploymentId!, "build");
    const queued = await shop.report(9);
    await scene.useCases.switchPreviews(scene.by, shop.project.id, { enabled: false }, AbortSignal.timeout(60_000));
    for (const { deploymentId } of [held, building, queued])
      expect((await scene.settled(deploymentId!)).status).toBe("cancelled");

    await shop.apply({});
    const waiting = await shop.report(10, { fork: true, branch: null });
    const settings = { gitOwner: "acme", gitRepo: "other" };
    await scene.useCases.changeProject(scene.by, shop.project.id, { settings });
    await scene.useCases.startBuild(scene.by, waiting.deploymentId!);
    expect((await scene.settled(waiting.deploymentId!)).status).toBe("cancelled");
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
