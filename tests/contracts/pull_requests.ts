import { describe, expect, test } from "bun:test";
import type { Deployment } from "../../domain/deployments/deployment.ts";
import { newId } from "../../domain/id.ts";
import type { Project } from "../../domain/projects/project.ts";
import type { NotedPullRequest } from "../../ports/githost/pull_requests.ts";
import { eventually } from "../support/eventually.ts";
import { sharedWorld } from "../support/shared_world.ts";
import { aDeployment, anOrganization, aProject, minutes, START } from "../support/database/store_builders.ts";
import type { WorldOf } from "./store_world.ts";

type PullRequestsWorld = WorldOf<
  "deployments" | "elapse" | "elsewhere" | "installation" | "organizations" | "projects" | "pullRequests"
>;

const MINUTE = 60_000;
/** Long enough for every test on a busy machine. */
const LEASE_MS = 10 * MINUTE;
const SHOP = { owner: "acme", repo: "shop" };

/** Contract tests for `PullRequests` adapters. */
export function pullRequestsContract(name: string, open: () => Promise<PullRequestsWorld>) {
  describe(`PullRequests contract: ${name}`, () => {
    const shared = sharedWorld(open);

    /** The tests share one outbox: each starts with an empty one. */
    function withWorld(work: (world: PullRequestsWorld) => Promise<void>) {
      return async () => {
        await shared().elapse(LEASE_MS + 60 * MINUTE);
        for (;;) {
          const left = await shared().pullRequests.take(LEASE_MS);
          if (!left) break;
          await shared().pullRequests.finish(left);
        }
        expect(await shared().pullRequests.nextDueMs()).toBeNull();
        await work(shared());
      };
    }

    async function someProject(): Promise<Project> {
      const { id: organizationId } = await anOrganization(shared());
      return aProject(shared(), { organizationId });
    }

    function note(project: Pick<Project, "id" | "organizationId">, change: Partial<NotedPullRequest> = {}) {
      const noted = { repository: SHOP, number: 7, change: "opened", changedAt: START } as const;
      return shared().pullRequests.note(project, { ...noted, ...change });
    }

    function previewOf(project: Project, overrides: Partial<Deployment> = {}): Promise<Deployment> {
      const { id: projectId, organizationId } = project;
      const pullRequest = { number: 7, fork: false };
      return aDeployment(shared(), { projectId, organizationId, environment: "preview", pullRequest, ...overrides });
    }

    async function store({ id }: Deployment, to: Partial<Deployment>): Promise<void> {
      await shared().deployments.change(id, (stored) => ({ deployment: { ...stored, ...to }, events: [] }));
    }

    test(
      "note() refuses what is older than what is known, for each pull request of each project",
      withWorld(async () => {
        const [project, other] = [await someProject(), await someProject()];
        expect(await note(project, { changedAt: minutes(2), change: "changed" })).toBe(true);
        expect(await note(project, { changedAt: minutes(1), change: "closed" })).toBe(false);
        expect(await note(project, { changedAt: minutes(2), change: "opened" })).toBe(false);
        expect(await note(project, { changedAt: minutes(2), change: "changed" })).toBe(true);
        expect(await note(project, { changedAt: minutes(2), change: "closed" })).toBe(true);
        expect(await note(project, { changedAt: minutes(2), change: "changed" })).toBe(false);
        expect(await note(project, { changedAt: minutes(3), change: "changed" })).toBe(true);
        expect(await note(project, { changedAt: minutes(0), number: 8 })).toBe(true);
        expect(await note(other, { changedAt: minutes(0) })).toBe(true);
      }),
    );

    test(
      "of concurrent note() calls, the latest change stays",
      withWorld(async () => {
        const project = await someProject();
        await Promise.all(Array.from({ length: 10 }, (_, at) => note(project, { changedAt: minutes(at) })));
        expect(await note(project, { changedAt: minutes(8) })).toBe(false);
        expect(await note(project, { changedAt: minutes(9) })).toBe(true);
      }),
    );

    test(
      "note() returns false for a project that is gone, and forgets pull requests with it",
      withWorld(async ({ projects, pullRequests }) => {
        const project = await someProject();
        expect(await note({ ...project, id: newId("prj") })).toBe(false);
        await note(project);
        await previewOf(project);
        await projects.remove(project.organizationId, project.id);
        expect(await pullRequests.nextDueMs()).toBeNull();
        expect(await note(project)).toBe(false);
      }),
    );

    test(
      "a stored preview is due at once, taken once, and finished with its comment",
      withWorld(async ({ pullRequests }) => {
        const project = await someProject();
        await note(project);
        expect(await pullRequests.nextDueMs()).toBeNull();
        const preview = await previewOf(project);
        expect(await pullRequests.nextDueMs()).toBe(0);
        const taken = (await pullRequests.take(LEASE_MS))!;
        expect(taken).toEqual({
          organizationId: project.organizationId,
          projectId: project.id,
          repository: SHOP,
          number: 7,
          commentId: null,
          revision: taken.revision,
          failures: 0,
          attempt: taken.attempt,
        });
        expect(await pullRequests.take(LEASE_MS)).toBeUndefined();
        expect(await pullRequests.nextDueMs()).toBeWithin(LEASE_MS - MINUTE, LEASE_MS + 1);
        await pullRequests.finish({ ...taken, commentId: 4_000_000_000 });
        expect(await pullRequests.nextDueMs()).toBeNull();
        await store(preview, { status: "building" });
        const again = (await pullRequests.take(LEASE_MS))!;
        expect(again).toMatchObject({ commentId: 4_000_000_000 });
        await pullRequests.finish({ ...again, commentId: null });
        await store(preview, { status: "deploying" });
        expect(await pullRequests.take(LEASE_MS)).toMatchObject({ commentId: 4_000_000_000 });
      }),
    );

    test(
      "a preview is entered when its status, its hold or its artifact changes, and when it is deleted",
      withWorld(async ({ deployments, pullRequests }) => {
        const project = await someProject();
        await note(project);
        const preview = await previewOf(project, { held: true });
        const isDue = async () => {
          const taken = await pullRequests.take(LEASE_MS);
          if (taken) await pullRequests.finish(taken);
          return taken !== undefined;
        };
        expect(await isDue()).toBe(true);
        await store(preview, { framework: "bun" });
        expect(await isDue()).toBe(false);
        for (const to of [
          { held: false },
          { status: "ready", artifactAvailable: true },
          { artifactAvailable: false },
        ]) {
          await store(preview, to as Partial<Deployment>);
          expect(await isDue()).toBe(true);
        }
        await deployments.remove(project.organizationId, preview.id);
        expect(await isDue()).toBe(true);
        await previewOf(project, { pullRequest: { number: 9, fork: false } });
        await aDeployment(shared(), { projectId: project.id, organizationId: project.organizationId });
        expect(await isDue()).toBe(false);
      }),
    );

    test(
      "what changes while it is reported is due again at once, without failures",
      withWorld(async ({ pullRequests }) => {
        const project = await someProject();
        await note(project);
        const preview = await previewOf(project);
        const first = (await pullRequests.take(LEASE_MS))!;
        await store(preview, { status: "building" });
        expect(await pullRequests.take(LEASE_MS)).toBeUndefined();
        await pullRequests.finish({ ...first, commentId: 12 });
        const second = (await pullRequests.take(LEASE_MS))!;
        expect(second).toMatchObject({ commentId: 12, failures: 0 });
        await pullRequests.retry(second, { afterMs: 30 * MINUTE, failures: 1 });
        expect(await pullRequests.nextDueMs()).toBeWithin(29 * MINUTE, 30 * MINUTE + 1);
        await shared().elapse(30 * MINUTE);
        const third = (await pullRequests.take(LEASE_MS))!;
        expect(third).toMatchObject({ failures: 1 });
        await store(preview, { status: "ready" });
        await pullRequests.retry(third, { afterMs: 0, failures: 2 });
        expect(await pullRequests.take(LEASE_MS)).toMatchObject({ failures: 0 });
      }),
    );

    test(
      "a lost lease gives the entry to another process, and a late finish has it reported again",
      withWorld(async ({ elapse, elsewhere, pullRequests }) => {
        const project = await someProject();
        await note(project);
        await previewOf(project);
        const late = (await pullRequests.take(LEASE_MS))!;
        await elapse(LEASE_MS + MINUTE);
        const second = (await elsewhere.pullRequests.take(LEASE_MS))!;
        expect(second.attempt).toBe(late.attempt + 1);
        await pullRequests.retry(late, { afterMs: 0, failures: 3 });
        await elsewhere.pullRequests.finish({ ...second, commentId: 5 });
        expect(await pullRequests.nextDueMs()).toBeNull();
        await pullRequests.finish(late);
        expect(await pullRequests.take(LEASE_MS)).toMatchObject({ commentId: 5, failures: 0 });
      }),
    );

    test(
      "a pull request of another repository, to which the project is linked since, gets a comment of its own",
      withWorld(async ({ pullRequests }) => {
        const project = await someProject();
        await note(project, { changedAt: minutes(5), change: "closed" });
        await previewOf(project);
        await pullRequests.finish({ ...(await pullRequests.take(LEASE_MS))!, commentId: 5 });
        expect(await note(project, { repository: { owner: "Acme", repo: "SHOP" }, changedAt: minutes(4) })).toBe(false);
        const repository = { owner: "acme", repo: "store" };
        expect(await note(project, { repository, changedAt: minutes(1) })).toBe(true);
        await previewOf(project);
        expect(await pullRequests.take(LEASE_MS)).toMatchObject({ repository, commentId: null });
      }),
    );

    test(
      "onDue() calls the handlers of every process until they unsubscribe",
      withWorld(async ({ elsewhere, pullRequests }) => {
        const calls = { here: 0, there: 0 };
        const project = await someProject();
        await note(project);
        const stops = [
          pullRequests.onDue(() => calls.here++),
          elsewhere.pullRequests.onDue(() => calls.there++),
        ] as const;
        await previewOf(project);
        await eventually(
          async () => calls,
          ({ here, there }) => here > 0 && there > 0,
        );
        stops[0]();
        const before = { ...calls };
        await previewOf(project);
        await eventually(
          async () => calls,
          ({ there }) => there > before.there,
        );
        expect(calls.here).toBe(before.here);
        stops[1]();
      }),
    );
  });
}
