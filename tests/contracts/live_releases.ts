import { describe, expect, test } from "bun:test";
import type { Deployment } from "../../domain/deployments/deployment.ts";
import { newId } from "../../domain/id.ts";
import type { LiveRelease } from "../../ports/deployments/live_releases.ts";
import { eventually } from "../support/eventually.ts";
import { sharedWorld } from "../support/shared_world.ts";
import { aDeployment, aPlace, minutes } from "../support/database/store_builders.ts";
import type { WorldOf } from "./store_world.ts";

const PREVIEW = { environment: "preview", status: "ready", artifactAvailable: true } as const;

function ids(release: LiveRelease | undefined) {
  return release && [release.project.id, release.deployment.id];
}

/** Contract tests for `LiveReleases` adapters. */
export function liveReleasesContract(
  name: string,
  open: () => Promise<
    WorldOf<"deployments" | "elsewhere" | "installation" | "liveReleases" | "organizations" | "projects">
  >,
) {
  describe(`LiveReleases contract: ${name}`, () => {
    const world = sharedWorld(open);

    async function activate({ organizationId, projectId, id }: Deployment): Promise<void> {
      const change = () => ({ activeDeploymentId: id });
      await world().projects.change(organizationId, projectId, { change, at: minutes(1) });
    }

    /** The listed releases of some projects, as other tests use the same world. */
    async function listed(...projectIds: string[]): Promise<string[]> {
      const releases = await world().liveReleases.list();
      const own = releases.filter(({ project }) => projectIds.includes(project.id));
      return own.map(({ deployment }) => deployment.id).toSorted();
    }

    test("find(), list() and among() return the live release of a project, and nothing without one", async () => {
      const [at, other] = [await aPlace(world()), await aPlace(world())];
      const [former, live] = [
        await aDeployment(world(), { ...at, status: "ready", artifactAvailable: true }),
        await aDeployment(world(), { ...at, status: "ready", artifactAvailable: true }),
      ];
      await activate(live);
      const { liveReleases, projects } = world();
      const project = await projects.find(at.organizationId, at.projectId);
      expect(await liveReleases.find(at.projectId)).toEqual({ project: project!, deployment: live });
      expect(await liveReleases.find(live.id)).toBeUndefined();
      expect(await liveReleases.find(other.projectId)).toBeUndefined();
      expect(await liveReleases.find(newId("prj"))).toBeUndefined();
      expect(await listed(at.projectId, other.projectId)).toEqual([live.id]);
      expect(await liveReleases.among([former.id, live.id, newId("dep")])).toEqual(new Set([live.id]));
      expect(await liveReleases.among([])).toEqual(new Set());
    });

    test("find() and list() return a preview by its own id, beside the live release", async () => {
      const at = await aPlace(world());
      const [live, preview] = [await aDeployment(world(), at), await aDeployment(world(), { ...at, ...PREVIEW })];
      await activate(live);
      const { liveReleases } = world();
      expect(ids(await liveReleases.find(preview.id))).toEqual([at.projectId, preview.id]);
      expect(ids(await liveReleases.find(at.projectId))).toEqual([at.projectId, live.id]);
      expect(await listed(at.projectId)).toEqual([live.id, preview.id].toSorted());
      expect(await liveReleases.among([live.id, preview.id])).toEqual(new Set([live.id]));
    });

    test.each([
      ["is not ready", { ...PREVIEW, status: "deploying" }],
      ["failed", { ...PREVIEW, status: "failed" }],
      ["was cleaned up", { ...PREVIEW, artifactAvailable: false }],
      ["is none", { ...PREVIEW, environment: "production" }],
    ] as const)("find() and list() do not return a preview that %s", async (_, overrides) => {
      const { id, projectId } = await aDeployment(world(), overrides);
      expect(await world().liveReleases.find(id)).toBeUndefined();
      expect(await listed(projectId)).toEqual([]);
    });

    test("onChange() receives what another process announces, until it is stopped", async () => {
      const { liveReleases, elsewhere } = world();
      const received: (string | null)[] = [];
      const stop = liveReleases.onChange((key) => void received.push(key));
      const keys = [newId("prj"), newId("dep")];
      // A process that has just started to listen may miss a notification.
      await eventually(
        async () => {
          for (const key of keys) await elsewhere.liveReleases.announce(key);
          return keys.every((key) => received.includes(key));
        },
        (isReceived) => isReceived,
      );
      expect(received).toEqual(expect.arrayContaining(keys));
      stop();
      const before = received.length;
      await elsewhere.liveReleases.announce(keys[0]!);
      await liveReleases.announce(keys[0]!);
      expect(received).toHaveLength(before);
    });

    test("followed() waits until every process has handled the announcement, at most for the given time", async () => {
      const { liveReleases, elsewhere } = world();
      const key = newId("prj");
      const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      let isDone = false;
      const stop = elsewhere.liveReleases.onChange(async (announced) => {
        if (announced !== key) return;
        begun.resolve();
        await gate.promise;
        isDone = true;
      });
      // A process that has just started to listen may miss a notification.
      const announcing = eventually(
        async () => {
          await liveReleases.announce(key);
          return Promise.race([begun.promise.then(() => true), Bun.sleep(100).then(() => false)]);
        },
        (isReceived) => isReceived,
      );
      expect(await announcing).toBe(true);
      expect(await liveReleases.followed(1)).toBe(false);
      const following = liveReleases.followed(60_000).then((all) => [all, isDone]);
      gate.resolve();
      expect(await following).toEqual([true, true]);
      stop();
      expect(await liveReleases.followed(60_000)).toBe(true);
    });

    test("followed() does not wait for a handler that failed", async () => {
      const { liveReleases, elsewhere } = world();
      const stop = elsewhere.liveReleases.onChange(() => Promise.reject(new Error("no")));
      await liveReleases.announce(newId("prj"));
      expect(await liveReleases.followed(60_000)).toBe(true);
      stop();
    });
  });
}
