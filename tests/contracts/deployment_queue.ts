import { describe, expect, test } from "bun:test";
import type { Deployment } from "../../domain/deployments/deployment.ts";
import { newId } from "../../domain/id.ts";
import type { DeploymentQueue, WorkClaim } from "../../ports/deployments/deployment_queue.ts";
import type { Deployments } from "../../ports/deployments/deployments.ts";
import { eventually } from "../support/eventually.ts";
import { randomInput } from "../support/inputs/random_input.ts";
import { sharedWorld } from "../support/shared_world.ts";
import { aDeployment, anOrganization, aProject, minutes } from "../support/database/store_builders.ts";
import type { WorldOf } from "./store_world.ts";

type QueueWorld = WorldOf<
  "deployments" | "deploymentQueue" | "elapse" | "installation" | "now" | "organizations" | "projects" | "elsewhere"
>;

const MANY = 1_000;
const MINUTE = 60_000;
/** Two minutes: long enough for every test on a busy machine. */
const LEASE_MS = 2 * MINUTE;

function by(owner = "one", maxBuilds = MANY) {
  return { owner, leaseMs: LEASE_MS, maxBuilds };
}

function claimOf({ id, attempts }: Pick<Deployment, "id" | "attempts">, owner = "one"): WorkClaim {
  return { deploymentId: id, owner, attempt: attempts };
}

/** The state of a deployment that awaits a decision. */
const UNDECIDED = { status: "partial_failure", decision: "pending", held: true } as const;

function queuedAt(minute: number) {
  return { queuedAt: minutes(minute), createdAt: minutes(minute) };
}

async function move(deployments: Deployments, id: string, to: Partial<Deployment>) {
  return deployments.change(id, (deployment) => ({ deployment: { ...deployment, ...to }, events: [] }));
}

/** Cancels all waiting and running deployments, regardless of who holds their lease. */
async function endAll({ deploymentQueue, deployments, elapse }: QueueWorld): Promise<void> {
  await elapse(LEASE_MS + MINUTE);
  for (;;) {
    const left = await deploymentQueue.take(by());
    if (!left) return;
    await move(deployments, left.id, { status: "cancelled" });
  }
}

/** Contract tests for `DeploymentQueue` adapters. */
export function deploymentQueueContract(name: string, open: () => Promise<QueueWorld>) {
  describe(`DeploymentQueue contract: ${name}`, () => {
    const shared = sharedWorld(open);

    /** The tests share one queue: each starts with an empty one. */
    function withWorld(work: (world: QueueWorld) => Promise<void>) {
      return async () => {
        await endAll(shared());
        await work(shared());
      };
    }

    test(
      "take() returns the oldest, equal times by id, leased, with unchanged status and counted attempts",
      withWorld(async (world) => {
        const made: Deployment[] = [];
        for (const minute of [3, 1, 1, 2]) made.push(await aDeployment(world, queuedAt(minute)));
        const expected = made.toSorted((a, b) => a.queuedAt.getTime() - b.queuedAt.getTime() || (a.id < b.id ? -1 : 1));
        for (const deployment of expected) {
          const taken = await world.deploymentQueue.take(by());
          expect(taken).toEqual({ ...deployment, attempts: 1 });
          expect(await world.deployments.get(deployment.id)).toEqual(taken);
        }
        expect(await world.deploymentQueue.take(by())).toBeUndefined();
      }),
    );

    test(
      "isTaken() is true in every process from take() of a deployment of the project until release()",
      withWorld(async (world) => {
        const { deploymentQueue, elsewhere } = world;
        const [one, other] = [await aDeployment(world, queuedAt(1)), await aDeployment(world, queuedAt(2))];
        expect(await deploymentQueue.isTaken(one.projectId)).toBe(false);
        const taken = (await deploymentQueue.take(by()))!;
        expect(taken.id).toBe(one.id);
        expect(await elsewhere.deploymentQueue.isTaken(one.projectId)).toBe(true);
        expect(await deploymentQueue.isTaken(other.projectId)).toBe(false);
        await move(world.deployments, one.id, { status: "cancelled" });
        expect(await deploymentQueue.isTaken(one.projectId)).toBe(true);
        await deploymentQueue.release(claimOf(taken));
        expect(await deploymentQueue.isTaken(one.projectId)).toBe(false);
        expect(await deploymentQueue.isTaken(newId("prj"))).toBe(false);
      }),
    );

    test(
      "isTaken() turns false after a lease expired only when no work is left",
      withWorld(async (world) => {
        const { deploymentQueue, deployments, elapse } = world;
        const { projectId } = await aDeployment(world, queuedAt(1));
        const { id } = (await deploymentQueue.take(by()))!;
        await elapse(LEASE_MS + MINUTE);
        expect(await deploymentQueue.isTaken(projectId)).toBe(true);
        await move(deployments, id, { status: "ready" });
        expect(await deploymentQueue.isTaken(projectId)).toBe(false);
      }),
    );

    test(
      "take() skips deployments that are held, ended, or blocked by another of their project",
      withWorld(async (world) => {
        const { id: organizationId } = await anOrganization(world);
        await aDeployment(world, { organizationId, held: true });
        await aDeployment(world, { organizationId, status: "cancelled" });
        await aDeployment(world, { organizationId, status: "ready" });
        for (const status of ["building", "deploying", "partial_failure"] as const) {
          const { id: projectId } = await aProject(world, { organizationId });
          const first = await aDeployment(world, { organizationId, projectId, ...queuedAt(1) });
          await aDeployment(world, { organizationId, projectId, ...queuedAt(2) });
          expect((await world.deploymentQueue.take(by()))?.id).toBe(first.id);
          expect(await world.deploymentQueue.take(by())).toBeUndefined();
          await move(world.deployments, first.id, { status, held: status === "partial_failure" });
          expect(await world.deploymentQueue.take(by())).toBeUndefined();
        }
      }),
    );

    test(
      "take() returns a later deployment while the first is held, and the first afterwards",
      withWorld(async (world) => {
        const first = await aDeployment(world, { held: true, ...queuedAt(1) });
        const { organizationId, projectId } = first;
        const second = await aDeployment(world, { organizationId, projectId, ...queuedAt(2) });
        expect((await world.deploymentQueue.take(by()))?.id).toBe(second.id);
        await move(world.deployments, first.id, { held: false });
        expect(await world.deploymentQueue.take(by())).toBeUndefined();
        await move(world.deployments, second.id, { status: "ready" });
        expect((await world.deploymentQueue.take(by()))?.id).toBe(first.id);
      }),
    );

    test(
      "take() returns a deployment with an expired lease before any waiting one, and counts its attempts",
      withWorld(async (world) => {
        const first = await aDeployment(world, queuedAt(1));
        const waiting = await aDeployment(world, queuedAt(0));
        await move(world.deployments, waiting.id, { held: true });
        await world.deploymentQueue.take(by("dead"));
        await move(world.deployments, first.id, { status: "building" });
        await move(world.deployments, waiting.id, { held: false });
        const full = by("next", 1);
        await world.elapse(LEASE_MS - MINUTE);
        expect(await world.deploymentQueue.take(full)).toBeUndefined();
        await world.elapse(MINUTE);
        const taken = await world.deploymentQueue.take(full);
        expect(taken).toMatchObject({ id: first.id, status: "building", attempts: 2 });
        expect(await world.deploymentQueue.take(full)).toBeUndefined();
        expect(await world.deploymentQueue.renew({ ...claimOf(taken!), owner: "dead", attempt: 1 }, LEASE_MS)).toBe(
          "lost",
        );
        expect(await world.deploymentQueue.renew(claimOf(taken!, "next"), LEASE_MS)).toBe("held");
      }),
    );

    test(
      "take() returns a deployment that was taken but never started, once its lease expired",
      withWorld(async (world) => {
        const { id } = await aDeployment(world, queuedAt(1));
        await world.deploymentQueue.take(by("dead"));
        await world.elapse(LEASE_MS - MINUTE);
        expect(await world.deploymentQueue.take(by())).toBeUndefined();
        await world.elapse(MINUTE);
        expect(await world.deploymentQueue.take(by())).toMatchObject({ id, attempts: 2 });
      }),
    );

    test(
      "take() respects the limit of builds; held, deploying and ended deployments do not count",
      withWorld(async (world) => {
        const made: Deployment[] = [];
        for (const minute of [1, 2, 3, 4, 5]) made.push(await aDeployment(world, queuedAt(minute)));
        const two = by("one", 2);
        const take = async () => (await world.deploymentQueue.take(two))?.id;
        expect(await take()).toBe(made[0]!.id);
        expect(await take()).toBe(made[1]!.id);
        expect(await take()).toBeUndefined();
        for (const { id } of made.slice(0, 2)) await move(world.deployments, id, { status: "building" });
        expect(await take()).toBeUndefined();
        await move(world.deployments, made[0]!.id, { held: true });
        expect(await take()).toBe(made[2]!.id);
        expect(await take()).toBeUndefined();
        await move(world.deployments, made[1]!.id, { status: "deploying" });
        expect(await take()).toBe(made[3]!.id);
        await move(world.deployments, made[2]!.id, { status: "failed" });
        expect(await take()).toBe(made[4]!.id);
        expect(await world.deploymentQueue.take({ ...two, maxBuilds: 0 })).toBeUndefined();
      }),
    );

    test(
      "twenty concurrent take() calls return the oldest of each project once, within the limit",
      withWorld(async (world) => {
        const { id: organizationId } = await anOrganization(world);
        for (const { maxBuilds, expected } of [
          { maxBuilds: MANY, expected: 5 },
          { maxBuilds: 3, expected: 3 },
        ]) {
          await endAll(world);
          const oldest: string[] = [];
          for (let project = 0; project < 5; project++) {
            const { id: projectId } = await aProject(world, { organizationId });
            const first = await aDeployment(world, { organizationId, projectId, ...queuedAt(project) });
            oldest.push(first.id);
            for (const minute of [10, 11, 12]) {
              await aDeployment(world, { organizationId, projectId, ...queuedAt(minute) });
            }
          }
          const taken = await Promise.all(
            Array.from({ length: 20 }, (_, index) =>
              (index % 2 ? world : world.elsewhere).deploymentQueue.take(by(`${index}`, maxBuilds)),
            ),
          );
          const ids = taken.flatMap((deployment) => (deployment ? [deployment.id] : []));
          expect(ids.toSorted()).toEqual(oldest.slice(0, expected).toSorted());
        }
      }),
    );

    test(
      "concurrent take() and change of one deployment both take effect",
      withWorld(async (world) => {
        for (let round = 1; round <= 10; round++) {
          const { id } = await aDeployment(world, queuedAt(1));
          const [taken] = await Promise.all([
            world.elsewhere.deploymentQueue.take(by()),
            move(world.deployments, id, { branch: "changed" }),
            move(world.deployments, id, { pinned: true }),
          ]);
          expect(taken?.id).toBe(id);
          expect(await world.deployments.get(id)).toMatchObject({ attempts: 1, branch: "changed", pinned: true });
        }
      }),
    );

    test(
      "take() skips a build that is held, even without a lease, until it is no longer held",
      withWorld(async (world) => {
        const { id } = await aDeployment(world, queuedAt(1));
        const taken = await world.deploymentQueue.take(by());
        await move(world.deployments, id, { status: "building", held: true });
        await world.deploymentQueue.release(claimOf(taken!));
        expect(await world.deploymentQueue.take(by())).toBeUndefined();
        await move(world.deployments, id, { held: false });
        expect(await world.deploymentQueue.take(by())).toMatchObject({ id, attempts: 2 });
      }),
    );

    test(
      "take() returns decided deployments first, regardless of the limit, and again after an expired lease",
      withWorld(async (world) => {
        const undecided = await aDeployment(world, { ...queuedAt(3), ...UNDECIDED });
        const { organizationId, projectId } = undecided;
        const behind = await aDeployment(world, { organizationId, projectId, ...queuedAt(4) });
        const none = by("dead", 0);
        expect(await world.deploymentQueue.take(none)).toBeUndefined();
        await aDeployment(world, queuedAt(1));
        const decided = await move(world.elsewhere.deployments, undecided.id, { held: false, pendingDecision: "keep" });
        expect(await world.deploymentQueue.take(none)).toEqual({ ...decided!, attempts: 1 });
        expect(await world.deploymentQueue.take(none)).toBeUndefined();
        await world.elapse(LEASE_MS);
        expect(await world.deploymentQueue.take(none)).toMatchObject({
          id: undecided.id,
          status: "partial_failure",
          pendingDecision: "keep",
          attempts: 2,
        });
        await endAll(world);
        expect((await world.deployments.get(undecided.id))?.status).toBe("cancelled");
        expect((await world.deployments.get(behind.id))?.status).toBe("cancelled");
      }),
    );

    test(
      "take() does not count a decided deployment as a build",
      withWorld(async (world) => {
        await aDeployment(world, { ...queuedAt(1), ...UNDECIDED, held: false });
        const next = await aDeployment(world, queuedAt(2));
        const one = by("one", 1);
        expect((await world.deploymentQueue.take(one))?.status).toBe("partial_failure");
        expect((await world.deploymentQueue.take(one))?.id).toBe(next.id);
      }),
    );

    test(
      'renew() keeps a lease, reports a cancel request, and returns "lost" for other claims',
      withWorld(async (world) => {
        const { deploymentQueue, deployments, elapse } = world;
        const { id } = await aDeployment(world, queuedAt(1));
        const claim = claimOf((await deploymentQueue.take(by()))!);
        await move(deployments, id, { status: "building" });
        await elapse(LEASE_MS - MINUTE);
        expect(await deploymentQueue.renew(claim, LEASE_MS)).toBe("held");
        await elapse(LEASE_MS - MINUTE);
        expect(await deploymentQueue.take(by())).toBeUndefined();
        for (const other of [
          { ...claim, owner: "another" },
          { ...claim, attempt: 2 },
          { ...claim, deploymentId: newId("dep") },
        ]) {
          expect(await deploymentQueue.renew(other, LEASE_MS)).toBe("lost");
        }
        await move(deployments, id, { cancelRequested: true });
        expect(await deploymentQueue.renew(claim, LEASE_MS)).toBe("cancel");
        expect((await deployments.get(id))?.attempts).toBe(1);
      }),
    );

    test(
      "renew() still succeeds for an expired lease that was not taken over",
      withWorld(async (world) => {
        await aDeployment(world, queuedAt(1));
        const taken = await world.deploymentQueue.take(by());
        await world.elapse(LEASE_MS + MINUTE);
        expect(await world.deploymentQueue.renew(claimOf(taken!), LEASE_MS)).toBe("held");
        expect(await world.deploymentQueue.take(by())).toBeUndefined();
      }),
    );

    test(
      "renew() and release() with the first claim of a process fail and leave its second claim unchanged",
      withWorld(async (world) => {
        const { deploymentQueue, elapse } = world;
        await aDeployment(world, queuedAt(1));
        const first = claimOf((await deploymentQueue.take(by()))!);
        await elapse(LEASE_MS);
        const second = claimOf((await deploymentQueue.take(by()))!);
        expect(second).toEqual({ ...first, attempt: 2 });
        expect(await deploymentQueue.renew(first, LEASE_MS)).toBe("lost");
        await deploymentQueue.release(first);
        expect(await deploymentQueue.renew(second, LEASE_MS)).toBe("held");
        expect(await deploymentQueue.take(by("another"))).toBeUndefined();
      }),
    );

    test(
      "release() frees a deployment immediately, for its owner only",
      withWorld(async (world) => {
        const { deploymentQueue } = world;
        const { id } = await aDeployment(world, queuedAt(1));
        const claim = claimOf((await deploymentQueue.take(by()))!);
        await move(world.deployments, id, { status: "deploying" });
        await deploymentQueue.release({ ...claim, owner: "another" });
        expect(await deploymentQueue.take(by())).toBeUndefined();
        await deploymentQueue.release(claim);
        expect(await deploymentQueue.renew(claim, LEASE_MS)).toBe("lost");
        expect(await deploymentQueue.take(by())).toMatchObject({ id, status: "deploying" });
        await deploymentQueue.release({ ...claim, deploymentId: newId("dep") });
      }),
    );

    test(
      "overdue() returns held deployments that have waited too long in the queue or for an answer",
      withWorld(async (world) => {
        const now = world.now().getTime();
        const inMinutes = (count: number) => new Date(now + count * MINUTE);
        const since = (count: number) => ({ queuedAt: inMinutes(count), createdAt: inMinutes(count) });
        const prompt = { promptId: "p", title: "", message: "", actions: [], answer: null };
        const prompted = { status: "building", held: true, prompt: { ...prompt, expiresAt: inMinutes(50) } } as const;
        const late = await aDeployment(world, { held: true, ...since(1) });
        const gate = await aDeployment(world, { ...prompted, ...since(2) });
        await aDeployment(world, { held: true, ...since(40) });
        await aDeployment(world, { held: false, ...since(1) });
        await aDeployment(world, { held: true, status: "cancelled", ...since(1) });
        await aDeployment(world, { ...prompted, prompt: { ...prompted.prompt, expiresAt: inMinutes(90) } });
        await aDeployment(world, { ...prompted, prompt: { ...prompted.prompt, answer: "approve" } });
        const undecided = await aDeployment(world, { ...since(1), ...UNDECIDED, prompt: prompted.prompt });
        const own = async () => {
          const ids = await world.deploymentQueue.overdue(30 * MINUTE);
          return ids.filter((id) => id === late.id || id === gate.id || id === undecided.id);
        };
        await world.elapse(29 * MINUTE);
        expect(await own()).toEqual([]);
        await world.elapse(4 * MINUTE);
        expect(await own()).toEqual([late.id]);
        await world.elapse(18 * MINUTE);
        expect(await own()).toEqual([late.id, gate.id]);
        await move(world.deployments, gate.id, { held: false });
        await move(world.deployments, late.id, { status: "cancelled" });
        await world.elapse(10 * MINUTE);
        expect(await own()).toEqual([]);
      }),
    );

    test(
      "onWork() is notified of new deployments, changes and releases of every process, until stopped",
      withWorld(async (world) => {
        const notified = { here: 0, there: 0 };
        const stops = [
          world.deploymentQueue.onWork(() => notified.here++),
          world.elsewhere.deploymentQueue.onWork(() => notified.there++),
        ];
        async function isNotified(act: () => Promise<unknown>): Promise<void> {
          const before = { ...notified };
          await act();
          const both = async () => notified.here > before.here && notified.there > before.there;
          expect(await eventually(both, Boolean)).toBe(true);
        }
        let id = "";
        await isNotified(async () => {
          ({ id } = await aDeployment(world, queuedAt(1)));
        });
        const taken = await world.deploymentQueue.take(by());
        await isNotified(() => move(world.elsewhere.deployments, id, { cancelRequested: true }));
        await isNotified(() => move(world.deployments, id, { status: "building" }));
        await isNotified(() => world.deploymentQueue.release(claimOf(taken!)));
        await move(world.deployments, id, UNDECIDED);
        await isNotified(() => move(world.elsewhere.deployments, id, { held: false, pendingDecision: "reject" }));
        stops[0]!();
        const before = notified.here;
        const there = notified.there;
        await aDeployment(world, queuedAt(1));
        await eventually(
          async () => notified.there,
          (count) => count > there,
        );
        expect(notified.here).toBe(before);
        stops[1]!();
      }),
    );

    test(
      "onWork() is notified once of each new deployment",
      withWorld(async (world) => {
        const { id: organizationId } = await anOrganization(world);
        let notified = 0;
        const stop = world.elsewhere.deploymentQueue.onWork(() => notified++);
        for (let count = 1; count <= 5; count++) {
          await aDeployment(world, { organizationId, ...queuedAt(count) });
          await eventually(
            async () => notified,
            (sum) => sum >= count,
          );
          expect(notified).toBe(count);
        }
        stop();
      }),
    );

    test(
      "take() by four workers in two processes returns 100 deployments once each, in order, one per project at a time",
      withWorld(async (world) => {
        const { id: organizationId } = await anOrganization(world);
        const projects = await Promise.all(Array.from({ length: 20 }, () => aProject(world, { organizationId })));
        const made: Deployment[] = [];
        for (let round = 0; round < 5; round++) {
          for (const { id: projectId } of projects) {
            made.push(await aDeployment(world, { organizationId, projectId, ...queuedAt(made.length / 100) }));
          }
        }
        const begun: string[] = [];
        const running = new Set<string>();
        let most = 0;
        async function worker(
          owner: string,
          { queue, deployments }: { queue: DeploymentQueue; deployments: Deployments },
        ) {
          const pauses = randomInput(`how long ${owner} works`);
          while (begun.length < made.length) {
            const taken = await queue.take(by(owner, 3));
            if (!taken) {
              await Bun.sleep(1);
              continue;
            }
            expect(running.has(taken.projectId)).toBe(false);
            running.add(taken.projectId);
            most = Math.max(most, running.size);
            begun.push(taken.id);
            await move(deployments, taken.id, { status: "building" });
            await Bun.sleep(pauses.fraction() * 3);
            running.delete(taken.projectId);
            await move(deployments, taken.id, { status: "ready" });
            await queue.release(claimOf(taken, owner));
          }
        }
        const here = { queue: world.deploymentQueue, deployments: world.deployments };
        const there = { queue: world.elsewhere.deploymentQueue, deployments: world.elsewhere.deployments };
        await Promise.all([worker("a", here), worker("b", here), worker("c", there), worker("d", there)]);
        expect(begun.toSorted()).toEqual(made.map(({ id }) => id).toSorted());
        expect(most).toBeLessThanOrEqual(3);
        for (const { id: projectId } of projects) {
          const ids = made.filter((deployment) => deployment.projectId === projectId).map(({ id }) => id);
          expect(begun.filter((id) => ids.includes(id))).toEqual(ids);
        }
        const attempts = await Promise.all(made.map(async ({ id }) => (await world.deployments.get(id))?.attempts));
        expect(new Set(attempts)).toEqual(new Set([1]));
      }),
    );
  });
}
