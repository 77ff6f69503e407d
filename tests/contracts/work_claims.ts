import { describe, expect, test } from "bun:test";
import type { Deployment } from "../../domain/deployments/deployment.ts";
import { newId } from "../../domain/id.ts";
import type { DeploymentQueue, WorkClaim } from "../../ports/deployments/deployment_queue.ts";
import { sharedWorld } from "../support/shared_world.ts";
import { aDeployment, serviceSetOf, logLine, minutes } from "../support/database/store_builders.ts";
import type { WorldOf } from "./store_world.ts";

const LEASE_MS = 120_000;
const VOID = { kind: "conflict", code: "claim_void" };

type ClaimWorld = WorldOf<
  | "serviceSets"
  | "deploymentEvents"
  | "deploymentQueue"
  | "deployments"
  | "elapse"
  | "elsewhere"
  | "installation"
  | "liveReleases"
  | "organizations"
  | "projects"
>;

/** Contract tests for stores that change data under the work claim of a worker. */
export function workClaimsContract(name: string, open: () => Promise<ClaimWorld>) {
  describe(`Work claims contract: ${name}`, () => {
    const world = sharedWorld(open);

    /** Takes this deployment, and everything that waits before it. */
    async function claim(id: string, queue: DeploymentQueue = world().deploymentQueue): Promise<WorkClaim> {
      const owner = crypto.randomUUID();
      for (;;) {
        const taken = await queue.take({ owner, leaseMs: LEASE_MS, maxBuilds: 1_000_000 });
        if (!taken) throw new Error(`Cannot take ${id}: it is not in the queue`);
        if (taken.id === id) return { deploymentId: id, owner, attempt: taken.attempts };
      }
    }

    async function takenAgain({ deploymentId }: WorkClaim): Promise<void> {
      await world().elapse(LEASE_MS);
      await claim(deploymentId);
    }

    /** Everything that can change under a claim. */
    async function seen({ id, organizationId, projectId }: Deployment) {
      return {
        events: await world().deploymentEvents.read(id, { since: 0, limit: 100 }),
        serviceSet: await world().serviceSets.read(id),
        project: await world().projects.find(organizationId, projectId),
      };
    }

    function changes(id: string, under: WorkClaim): readonly (() => Promise<unknown>)[] {
      const { serviceSets, deploymentEvents, liveReleases } = world();
      return [
        () => deploymentEvents.append(id, [logLine("one")], under),
        () => serviceSets.write(id, serviceSetOf("web"), under),
        () => liveReleases.activate(id, { claim: under, at: minutes(7) }),
        () => liveReleases.activate(null, { claim: under, at: minutes(7) }),
      ];
    }

    test("append(), write() and activate() succeed for the claim holder, even after its lease expired", async () => {
      const made = await aDeployment(world());
      const own = await claim(made.id);
      const { serviceSets, deploymentEvents, liveReleases } = world();
      expect(await deploymentEvents.append(made.id, [logLine("one")], own)).toBe(1);
      await world().elapse(LEASE_MS + 1);
      await serviceSets.write(made.id, serviceSetOf("web"), own);
      await liveReleases.activate(made.id, { claim: own, at: minutes(7) });
      expect(await seen(made)).toMatchObject({
        events: [{ message: "one" }],
        serviceSet: serviceSetOf("web"),
        project: { activeDeploymentId: made.id, updatedAt: minutes(7) },
      });
      expect((await liveReleases.find(made.projectId))?.deployment.id).toBe(made.id);
      await liveReleases.activate(null, { claim: own, at: minutes(8) });
      expect(await liveReleases.find(made.projectId)).toBeUndefined();
    });

    test("activate() can switch back to another deployment of the project", async () => {
      const former = await aDeployment(world(), { status: "ready" });
      const { organizationId, projectId } = former;
      const made = await aDeployment(world(), { organizationId, projectId });
      await world().liveReleases.activate(former.id, { claim: await claim(made.id), at: minutes(1) });
      expect((await world().liveReleases.find(projectId))?.deployment.id).toBe(former.id);
    });

    test.each([
      ["another has taken it", takenAgain],
      ["it was released", (own: WorkClaim) => world().deploymentQueue.release(own)],
    ] as const)("append(), write() and activate() are refused once %s, and change nothing", async (_, end) => {
      const made = await aDeployment(world());
      const own = await claim(made.id);
      await end(own);
      const before = await seen(made);
      for (const change of changes(made.id, own)) await expect(change()).rejects.toMatchObject(VOID);
      expect(await seen(made)).toEqual(before);
    });

    test("append(), write() and activate() are refused for another owner, attempt or deployment", async () => {
      const [made, other] = [await aDeployment(world()), await aDeployment(world(), { held: true })];
      const own = await claim(made.id);
      const foreign = [
        { ...own, owner: "another" },
        { ...own, attempt: own.attempt + 1 },
        { ...own, deploymentId: other.id },
      ];
      const before = await seen(made);
      for (const under of foreign) {
        for (const change of changes(made.id, under)) await expect(change()).rejects.toMatchObject(VOID);
      }
      expect(await seen(made)).toEqual(before);
    });

    test("append() and write() report a deployment that is gone", async () => {
      const id = newId("dep");
      const under = { deploymentId: id, owner: "one", attempt: 1 };
      const [append, write, activate] = changes(id, under);
      await expect(append!()).rejects.toMatchObject({ kind: "not_found" });
      await expect(write!()).rejects.toMatchObject({ kind: "not_found" });
      await expect(activate!()).rejects.toMatchObject(VOID);
    });

    test("of concurrent activate() and take() by the next worker, activate() comes first or is refused", async () => {
      for (let round = 0; round < 10; round++) {
        const made = await aDeployment(world());
        const own = await claim(made.id);
        await world().elapse(LEASE_MS);
        const [activated, next] = await Promise.allSettled([
          world().liveReleases.activate(made.id, { claim: own, at: minutes(1) }),
          claim(made.id, world().elsewhere.deploymentQueue),
        ]);
        expect(next.status).toBe("fulfilled");
        if (activated.status === "rejected") expect(activated.reason).toMatchObject(VOID);
        const live = await world().liveReleases.find(made.projectId);
        expect(live?.deployment.id).toBe(activated.status === "rejected" ? undefined : made.id);
        await expect(world().liveReleases.activate(null, { claim: own, at: minutes(2) })).rejects.toMatchObject(VOID);
      }
    });
  });
}
