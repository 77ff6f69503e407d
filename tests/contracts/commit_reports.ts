import { describe, expect, test } from "bun:test";
import type { Deployment } from "../../domain/deployments/deployment.ts";
import type { Project } from "../../domain/projects/project.ts";
import { eventually } from "../support/eventually.ts";
import { sharedWorld } from "../support/shared_world.ts";
import { aDeployment, anOrganization, aProject } from "../support/database/store_builders.ts";
import type { WorldOf } from "./store_world.ts";

type ReportsWorld = WorldOf<
  "commitReports" | "deployments" | "elapse" | "elsewhere" | "installation" | "organizations" | "projects"
>;

const MINUTE = 60_000;
/** Long enough for every test on a busy machine. */
const LEASE_MS = 10 * MINUTE;
const SHA = "ab".repeat(20);
const LINKED = { gitOwner: "acme", gitRepo: "shop", gitAccess: true };
const GIT = { kind: "git", url: "https://git.example.com/acme/shop.git", branch: "main", commit: SHA } as const;

/** Contract tests for `CommitReports` adapters. */
export function commitReportsContract(name: string, open: () => Promise<ReportsWorld>) {
  describe(`CommitReports contract: ${name}`, () => {
    const shared = sharedWorld(open);

    /** The tests share one outbox: each starts with an empty one. */
    function withWorld(work: (world: ReportsWorld) => Promise<void>) {
      return async () => {
        await shared().elapse(LEASE_MS + 60 * MINUTE);
        for (;;) {
          const left = await shared().commitReports.take(LEASE_MS);
          if (!left) break;
          await shared().commitReports.finish(left);
        }
        expect(await shared().commitReports.nextDueMs()).toBeNull();
        await work(shared());
      };
    }

    async function linkedProject(overrides: Partial<Project> = {}): Promise<Project> {
      const { id: organizationId } = await anOrganization(shared());
      return aProject(shared(), { organizationId, settings: LINKED, ...overrides });
    }

    function deploymentOf(project: Project, overrides: Partial<Deployment> = {}): Promise<Deployment> {
      const { id: projectId, organizationId } = project;
      return aDeployment(shared(), { projectId, organizationId, source: GIT, commitSha: SHA, ...overrides });
    }

    async function change({ id }: Deployment, to: Partial<Deployment>): Promise<void> {
      await shared().deployments.change(id, (stored) => ({ deployment: { ...stored, ...to }, events: [] }));
    }

    test(
      "a stored deployment with a commit is due at once, and taken once",
      withWorld(async ({ commitReports }) => {
        const project = await linkedProject();
        const { id } = await deploymentOf(project, { environment: "preview" });
        expect(await commitReports.nextDueMs()).toBe(0);
        const taken = await commitReports.take(LEASE_MS);
        expect(taken!).toEqual({
          projectId: project.id,
          environment: "preview",
          commitSha: SHA,
          deploymentId: id,
          status: "queued",
          failures: 0,
          attempt: taken!.attempt,
        });
        expect(await commitReports.take(LEASE_MS)).toBeUndefined();
        expect(await commitReports.nextDueMs()).toBeWithin(LEASE_MS - MINUTE, LEASE_MS + 1);
        await commitReports.finish(taken!);
        expect(await commitReports.take(LEASE_MS)).toBeUndefined();
        expect(await commitReports.nextDueMs()).toBeNull();
      }),
    );

    test(
      "of concurrent take() calls in several processes, one gets an entry",
      withWorld(async ({ commitReports, elsewhere }) => {
        const project = await linkedProject();
        await deploymentOf(project);
        await deploymentOf(project, { commitSha: "cd".repeat(20) });
        const takers = Array.from({ length: 20 }, (_, index) => (index % 2 ? commitReports : elsewhere.commitReports));
        const taken = (await Promise.all(takers.map((reports) => reports.take(LEASE_MS)))).filter(Boolean);
        expect(new Set(taken.map((report) => report?.commitSha)).size).toBe(taken.length);
        const rest = [await commitReports.take(LEASE_MS), await commitReports.take(LEASE_MS)].filter(Boolean);
        expect(taken.length + rest.length).toBe(2);
      }),
    );

    test(
      "a deployment is entered when its status changes, and when its commit becomes known, and not otherwise",
      withWorld(async ({ commitReports }) => {
        const deployment = await deploymentOf(await linkedProject(), { commitSha: null, status: "building" });
        expect(await commitReports.take(LEASE_MS)).toBeUndefined();
        await change(deployment, { commitSha: SHA });
        const first = await commitReports.take(LEASE_MS);
        expect(first).toMatchObject({ deploymentId: deployment.id, status: "building", commitSha: SHA });
        await commitReports.finish(first!);
        await change(deployment, { framework: "bun", urls: ["https://shop.example.com"] });
        expect(await commitReports.nextDueMs()).toBeNull();
        await change(deployment, { status: "ready" });
        expect(await commitReports.take(LEASE_MS)).toMatchObject({ deploymentId: deployment.id, status: "ready" });
      }),
    );

    test(
      "a rollback is entered, too",
      withWorld(async ({ commitReports }) => {
        const source = { kind: "artifact", deploymentId: "dep_old", fallback: GIT } as const;
        const { id } = await deploymentOf(await linkedProject(), { source, trigger: "rollback" });
        expect(await commitReports.take(LEASE_MS)).toMatchObject({ deploymentId: id });
      }),
    );

    test(
      "nothing is entered for projects that may not use the git host, and for other sources",
      withWorld(async ({ commitReports }) => {
        const unlinked: readonly Partial<Project>[] = [
          { settings: {} },
          { settings: { gitUrl: GIT.url } },
          { settings: { gitOwner: "acme", gitRepo: "shop" } },
          { settings: { ...LINKED, gitAccess: false } },
          { settings: LINKED, location: "cloud" },
        ];
        for (const overrides of unlinked) {
          const deployment = await deploymentOf(await linkedProject(overrides));
          await change(deployment, { status: "failed" });
        }
        await deploymentOf(await linkedProject(), { source: { kind: "local", path: "/srv/shop" } });
        expect(await commitReports.nextDueMs()).toBeNull();
      }),
    );

    test(
      "only the latest status is kept, and one that changes while it is reported is due again at once",
      withWorld(async ({ commitReports }) => {
        const deployment = await deploymentOf(await linkedProject());
        await change(deployment, { status: "building" });
        const building = await commitReports.take(LEASE_MS);
        expect(building).toMatchObject({ status: "building" });
        await change(deployment, { status: "deploying" });
        await change(deployment, { status: "ready" });
        expect(await commitReports.take(LEASE_MS)).toBeUndefined();
        await commitReports.finish(building!);
        const ready = await commitReports.take(LEASE_MS);
        expect(ready).toMatchObject({ status: "ready" });
        await commitReports.finish(ready!);
        expect(await commitReports.nextDueMs()).toBeNull();
      }),
    );

    test(
      "of several deployments of a commit the newest counts, for each project and environment",
      withWorld(async ({ commitReports }) => {
        const project = await linkedProject();
        const [old, newer] = [await deploymentOf(project), await deploymentOf(project)];
        const preview = await deploymentOf(project, { environment: "preview" });
        await change(old, { status: "failed" });
        const taken = [await commitReports.take(LEASE_MS), await commitReports.take(LEASE_MS)];
        expect(taken.map((report) => report?.deploymentId).toSorted()).toEqual([newer.id, preview.id].toSorted());
        expect(taken.map((report) => report?.status)).toEqual(["queued", "queued"]);
        expect(await commitReports.take(LEASE_MS)).toBeUndefined();
      }),
    );

    test(
      "take() gives an entry to another process once its lease has expired, and both finishes have it reported again",
      withWorld(async ({ commitReports, elapse, elsewhere }) => {
        const deployment = await deploymentOf(await linkedProject());
        const late = await commitReports.take(LEASE_MS);
        await elapse(LEASE_MS / 2);
        expect(await elsewhere.commitReports.take(LEASE_MS)).toBeUndefined();
        await elapse(LEASE_MS);
        await change(deployment, { status: "building" });
        const second = await elsewhere.commitReports.take(LEASE_MS);
        expect(second).toMatchObject({ status: "building", attempt: late!.attempt + 1 });
        await commitReports.retry(late!, { afterMs: 0, failures: 3 });
        await elsewhere.commitReports.finish(second!);
        expect(await commitReports.nextDueMs()).toBeNull();
        // Arrived after the report of the other process.
        await commitReports.finish(late!);
        const third = await commitReports.take(LEASE_MS);
        expect(third).toMatchObject({ status: "building", failures: 0 });
        await commitReports.finish(third!);
        expect(await commitReports.nextDueMs()).toBeNull();
      }),
    );

    test(
      "retry() makes an entry due later, with its failures",
      withWorld(async ({ commitReports, elapse }) => {
        const deployment = await deploymentOf(await linkedProject());
        const taken = await commitReports.take(LEASE_MS);
        await commitReports.retry(taken!, { afterMs: 30 * MINUTE, failures: 2 });
        expect(await commitReports.take(LEASE_MS)).toBeUndefined();
        expect(await commitReports.nextDueMs()).toBeWithin(29 * MINUTE, 30 * MINUTE + 1);
        await elapse(30 * MINUTE);
        expect(await commitReports.nextDueMs()).toBe(0);
        const again = await commitReports.take(LEASE_MS);
        expect(again).toMatchObject({ status: "queued", failures: 2 });
        // A new status starts without failures, and waits as long as the former one.
        await change(deployment, { status: "building" });
        await commitReports.retry(again!, { afterMs: 30 * MINUTE, failures: 3 });
        await change(deployment, { status: "ready" });
        expect(await commitReports.nextDueMs()).toBeWithin(29 * MINUTE, 30 * MINUTE + 1);
        await elapse(30 * MINUTE);
        expect(await commitReports.take(LEASE_MS)).toMatchObject({ status: "ready", failures: 0 });
      }),
    );

    test(
      "entries go with their deployment and with its project",
      withWorld(async ({ commitReports, deployments, projects }) => {
        const project = await linkedProject();
        const { id, organizationId } = await deploymentOf(project);
        const taken = await commitReports.take(LEASE_MS);
        await deployments.remove(organizationId, id);
        await commitReports.finish(taken!);
        await commitReports.retry(taken!, { afterMs: 0, failures: 1 });
        expect(await commitReports.nextDueMs()).toBeNull();
        await deploymentOf(project);
        await projects.remove(organizationId, project.id);
        expect(await commitReports.nextDueMs()).toBeNull();
      }),
    );

    test(
      "onDue() calls the handlers of every process until they unsubscribe",
      withWorld(async ({ commitReports, elsewhere }) => {
        const calls = { here: 0, there: 0 };
        const stops = [
          commitReports.onDue(() => calls.here++),
          elsewhere.commitReports.onDue(() => calls.there++),
        ] as const;
        const project = await linkedProject();
        await deploymentOf(project);
        await eventually(
          async () => calls,
          ({ here, there }) => here > 0 && there > 0,
        );
        stops[0]();
        const before = calls.here;
        const thereBefore = calls.there;
        await deploymentOf(project, { commitSha: "cd".repeat(20) });
        await eventually(
          async () => calls,
          ({ there }) => there > thereBefore,
        );
        expect(calls.here).toBe(before);
        stops[1]();
      }),
    );
  });
}
