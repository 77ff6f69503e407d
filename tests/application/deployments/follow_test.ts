import { describe, expect, test } from "bun:test";
import { followLiveReleases } from "../../../application/deployments/follow_live_releases.ts";
import { Failure } from "../../../domain/failure.ts";
import type { Edge } from "../../../ports/domains/edge.ts";
import { EngineScene } from "../../support/apps/engine_scene.ts";
import { intercepted } from "../../support/faults/intercepted.ts";

const AWAY = new Failure("unavailable", "engine_away", "Cannot use Docker: nothing answers there");

/** Live releases, and an edge that follows them. */
async function followed(scene: EngineScene, count: number) {
  const projects = await Promise.all(Array.from({ length: count }, () => scene.project()));
  const live = await Promise.all(projects.map((project) => scene.deployed(project)));
  const switched = new Map<string, number>();
  const edge: Edge = intercepted(scene.memory.edge, "switch", (goOn, [key, routes]) => {
    switched.set(key as string, (routes as readonly unknown[]).length);
    return goOn();
  });
  const ports = { ...scene.world, edge };
  return { ports, switched, live, keys: projects.map(({ id }) => id) };
}

/** The same ports, with a runtime that fails to find some instances. */
function without(ports: Awaited<ReturnType<typeof followed>>["ports"], away: ReadonlySet<string>) {
  const runtime = intercepted(ports.runtime, "find", (goOn, [id]) =>
    away.has(id as string) ? Promise.reject(AWAY) : goOn(),
  );
  return { ...ports, runtime };
}

describe("followLiveReleases()", () => {
  test("follows all others when one cannot be looked up, whichever it is, and reports the failure", async () => {
    await using scene = await EngineScene.open();
    const { ports, switched, live, keys } = await followed(scene, 3);
    for (const [index, broken] of live.entries()) {
      switched.clear();
      const away = new Set(broken.services.flatMap(({ instanceId }) => instanceId ?? []));
      const follow = followLiveReleases(without(ports, away), { baseDomain: "localhost" });
      await expect(follow(null)).rejects.toBe(AWAY);
      const others = keys.filter((_, other) => other !== index);
      expect(switched).toEqual(new Map(others.map((key) => [key, 1])));
    }
  });

  test("follows the failed one as soon as it can be looked up, and keeps those it followed before", async () => {
    await using scene = await EngineScene.open();
    const { ports, switched, live, keys } = await followed(scene, 2);
    const away = new Set(live[0]!.services.flatMap(({ instanceId }) => instanceId ?? []));
    const follow = followLiveReleases(without(ports, away), { baseDomain: "localhost" });
    await expect(follow(null)).rejects.toBe(AWAY);
    away.clear();
    expect(await follow(null)).toBe(true);
    expect(switched).toEqual(new Map(keys.map((key) => [key, 1])));
    for (const { organizationId, id } of live) await scene.memory.deployments.remove(organizationId, id);
    expect(await follow(null)).toBe(true);
    expect(switched).toEqual(new Map(keys.map((key) => [key, 0])));
  });

  test("follows nothing before the edge is loaded, and drops what was removed while it loaded", async () => {
    await using scene = await EngineScene.open();
    const { ports, switched, live, keys } = await followed(scene, 2);
    switched.clear();
    const loaded = Promise.withResolvers<Iterable<string>>();
    const follow = followLiveReleases(ports, { baseDomain: "localhost", loaded: loaded.promise });
    await scene.memory.deployments.remove(live[0]!.organizationId, live[0]!.id);
    const following = follow(null);
    await Bun.sleep(0);
    expect(switched).toEqual(new Map());
    loaded.resolve(keys);
    expect(await following).toBe(true);
    expect(switched).toEqual(
      new Map([
        [keys[0]!, 0],
        [keys[1]!, 1],
      ]),
    );
  });

  test("reports a release or a project that is gone, but not a project that never served", async () => {
    await using scene = await EngineScene.open();
    const { ports, live, keys } = await followed(scene, 1);
    const follow = followLiveReleases(ports, { baseDomain: "localhost", loaded: Promise.resolve(keys) });
    const fresh = await scene.project();
    expect(await follow(fresh.id)).toBe(true);
    expect(await follow(keys[0]!)).toBe(true);
    await scene.memory.deployments.remove(live[0]!.organizationId, live[0]!.id);
    expect(await follow(keys[0]!)).toBe(false);
    await scene.memory.projects.remove(fresh.organizationId, fresh.id);
    expect(await follow(fresh.id)).toBe(false);
  });
});
