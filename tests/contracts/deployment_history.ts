import { describe, expect, test } from "bun:test";
import type { Deployment } from "../../domain/deployments/deployment.ts";
import { newId } from "../../domain/id.ts";
import type { DeploymentFilter, QueuePosition } from "../../ports/deployments/deployment_history.ts";
import { expectPages, newestFirst, SHUFFLED_MINUTES } from "../support/expect_pages.ts";
import { sharedWorld } from "../support/shared_world.ts";
import { aDeployment, anOrganization, aPlace, aProject, minutes } from "../support/database/store_builders.ts";
import type { WorldOf } from "./store_world.ts";

const ALL = { page: 1, perPage: 100 };

/** Contract tests for `DeploymentHistory` adapters. */
export function deploymentHistoryContract(
  name: string,
  open: () => Promise<
    WorldOf<"deploymentHistory" | "deployments" | "installation" | "organizations" | "projects" | "elsewhere">
  >,
) {
  describe(`DeploymentHistory contract: ${name}`, () => {
    const world = sharedWorld(open);

    async function listedIn(organizationId: string, filter: DeploymentFilter = {}): Promise<readonly Deployment[]> {
      const { items } = await world().deploymentHistory.list(organizationId, filter, ALL);
      return items.map(({ deployment }) => deployment);
    }

    test("list() and find() return which deployments are live, and which one each queued one waits for", async () => {
      const { id: organizationId } = await anOrganization(world());
      const inProject = async () => ({ organizationId, projectId: (await aProject(world(), { organizationId })).id });
      const places = [await inProject(), await inProject(), await inProject(), await inProject()] as const;
      const busy = [
        await aDeployment(world(), { ...places[0], status: "building" }),
        await aDeployment(world(), { ...places[1], status: "deploying" }),
        await aDeployment(world(), { ...places[2], status: "partial_failure", decision: "pending", held: true }),
      ] as const;
      const live = await aDeployment(world(), { ...places[3], status: "ready" });
      const queued = await Promise.all(places.map((at) => aDeployment(world(), at)));
      const positions = async () => {
        const { items } = await world().deploymentHistory.list(organizationId, {}, ALL);
        return new Map(items.map(({ deployment, ...position }) => [deployment.id, position]));
      };
      const idle = { active: false, waitingFor: null };
      const before = new Map<string, QueuePosition>([
        ...queued.slice(0, 3).map(({ id }, index) => [id, { active: false, waitingFor: busy[index]!.id }] as const),
        ...[queued[3]!, ...busy, live].map(({ id }) => [id, idle] as const),
      ]);
      expect(await positions()).toEqual(before);
      expect(await world().deploymentHistory.find(organizationId, live.id)).toEqual({ deployment: live, ...idle });
      for (const { projectId, id } of [busy[2], live]) {
        const change = () => ({ activeDeploymentId: id });
        await world().projects.change(organizationId, projectId, { change, at: minutes(1) });
      }
      const isLive = { active: true, waitingFor: null };
      expect(await positions()).toEqual(new Map([...before, [busy[2].id, isLive], [live.id, isLive]]));
      expect(await world().deploymentHistory.find(organizationId, live.id)).toEqual({ deployment: live, ...isLive });
      const first = { deployment: queued[0]!, active: false, waitingFor: busy[0].id };
      expect(await world().deploymentHistory.find(organizationId, queued[0]!.id)).toEqual(first);
      expect(await world().deploymentHistory.find(newId("org"), live.id)).toBeUndefined();
      expect(await world().deploymentHistory.find(organizationId, newId("dep"))).toBeUndefined();
    });

    test("list() and find() return every change at once, and count what was deleted no more", async () => {
      const { organizationId, projectId } = await aPlace(world());
      const made = await Promise.all([1, 2, 3].map(() => aDeployment(world(), { organizationId, projectId })));
      const seen = async (filter: DeploymentFilter = {}) => {
        const { items, total } = await world().deploymentHistory.list(organizationId, filter, { page: 1, perPage: 2 });
        return { total, statuses: items.map(({ deployment }) => deployment.status) };
      };
      expect(await seen()).toEqual({ total: 3, statuses: ["queued", "queued"] });
      for (const { id } of made) {
        const status = "cancelled";
        await world().deployments.change(id, (deployment) => ({ deployment: { ...deployment, status }, events: [] }));
        expect((await world().deploymentHistory.find(organizationId, id))?.deployment.status).toBe(status);
      }
      expect(await seen()).toEqual({ total: 3, statuses: ["cancelled", "cancelled"] });
      expect(await seen({ status: "cancelled", projectId })).toEqual({
        total: 3,
        statuses: ["cancelled", "cancelled"],
      });
      expect(await seen({ status: "queued" })).toEqual({ total: 0, statuses: [] });
      expect(await seen({ projectId: newId("prj") })).toEqual({ total: 0, statuses: [] });
      for (const { id } of made.slice(0, 2)) await world().deployments.remove(organizationId, id);
      expect(await seen()).toEqual({ total: 1, statuses: ["cancelled"] });
      await world().projects.remove(organizationId, projectId);
      expect(await seen()).toEqual({ total: 0, statuses: [] });
      expect(await seen({ projectId })).toEqual({ total: 0, statuses: [] });
    });

    test("list() counts no deployment of another organization's project", async () => {
      const { organizationId } = await aPlace(world());
      const foreign = await aDeployment(world());
      const filter = { projectId: foreign.projectId };
      expect(await world().deploymentHistory.list(organizationId, filter, ALL)).toEqual({ items: [], total: 0 });
    });

    test("list() returns newest first, equal times by id, page by page", async () => {
      const at = await aPlace(world());
      const made: Deployment[] = [];
      for (const minute of SHUFFLED_MINUTES) {
        made.push(await aDeployment(world(), { ...at, createdAt: minutes(minute) }));
      }
      await aDeployment(world());
      const expected = newestFirst(made, { at: ({ createdAt }) => createdAt, id: ({ id }) => id });
      await expectPages(
        (page) => world().deploymentHistory.list(at.organizationId, {}, page),
        expected.map(({ id }) => id),
        ({ deployment }) => deployment.id,
      );
      expect(await listedIn(at.organizationId)).toEqual(expected);
    });

    test("find() and list() see at once what another process has changed", async () => {
      const { organizationId, projectId } = await aPlace(world());
      const { id } = await aDeployment(world(), { organizationId, projectId });
      for (const branch of ["one", "two", "three"]) {
        await world().elsewhere.deployments.change(id, (deployment) => ({
          deployment: { ...deployment, branch },
          events: [],
        }));
        const found = await world().deploymentHistory.find(organizationId, id);
        expect(found?.deployment.branch).toBe(branch);
        expect((await listedIn(organizationId)).map((deployment) => deployment.branch)).toEqual([branch]);
      }
    });

    test("list() returns deployments of given projects and given ids, within the organization", async () => {
      const { organizationId, projectId } = await aPlace(world());
      const { id: secondId } = await aProject(world(), { organizationId });
      const make = (projectOf: string, minute: number) =>
        aDeployment(world(), { organizationId, projectId: projectOf, createdAt: minutes(minute) });
      const [first, second, third] = [await make(projectId, 1), await make(secondId, 2), await make(secondId, 3)];
      const foreign = await aDeployment(world());
      const listed = async (filter: { projectIds?: string[]; ids?: string[]; projectId?: string }) =>
        (await listedIn(organizationId, filter)).map(({ id }) => id);
      expect(await listed({ projectIds: [projectId] })).toEqual([first.id]);
      expect(await listed({ projectIds: [secondId, foreign.projectId] })).toEqual([third.id, second.id]);
      expect(await listed({ projectIds: [projectId], ids: [third.id, foreign.id] })).toEqual([third.id, first.id]);
      expect(await listed({ projectIds: [], ids: [second.id] })).toEqual([second.id]);
      expect(await listed({ projectIds: [], ids: [] })).toEqual([]);
      expect(await listed({ projectIds: [] })).toEqual([]);
      expect(await listed({ projectId: secondId })).toEqual([third.id, second.id]);
      expect(await listed({ projectIds: [projectId], ids: [second.id], projectId: secondId })).toEqual([second.id]);
      expect(await listed({ projectIds: [projectId], ids: [second.id], projectId })).toEqual([first.id]);
      expect(await listed({})).toEqual([third.id, second.id, first.id]);
    });

    test("list() filters by status, environment and branch, alone, together and within projects", async () => {
      const { organizationId, projectId } = await aPlace(world());
      const { id: secondId } = await aProject(world(), { organizationId });
      const make = (minute: number, overrides: Partial<Deployment>) =>
        aDeployment(world(), { organizationId, projectId, createdAt: minutes(minute), ...overrides });
      const first = await make(1, { status: "ready", branch: "main" });
      const second = await make(2, { status: "ready", branch: "feature/ünïcode", environment: "preview" });
      const third = await make(3, { status: "failed", branch: "main", environment: "preview" });
      const fourth = await make(4, { status: "failed", branch: null, projectId: secondId });
      const listed = async (filter: DeploymentFilter) => {
        const { items, total } = await world().deploymentHistory.list(organizationId, filter, ALL);
        expect(total).toBe(items.length);
        return items.map(({ deployment }) => deployment.id);
      };
      expect(await listed({ status: "ready" })).toEqual([second.id, first.id]);
      expect(await listed({ status: "superseded" })).toEqual([]);
      expect(await listed({ environment: "preview" })).toEqual([third.id, second.id]);
      expect(await listed({ environment: "production" })).toEqual([fourth.id, first.id]);
      expect(await listed({ branch: "main" })).toEqual([third.id, first.id]);
      expect(await listed({ branch: "feature/ünïcode" })).toEqual([second.id]);
      for (const branch of ["Main", "mai", "main%", "null", ""]) expect(await listed({ branch })).toEqual([]);
      expect(await listed({ status: "failed", environment: "preview", branch: "main" })).toEqual([third.id]);
      expect(await listed({ status: "ready", branch: "main", environment: "preview" })).toEqual([]);
      expect(await listed({ status: "failed", projectIds: [secondId] })).toEqual([fourth.id]);
      expect(await listed({ status: "failed", projectIds: [secondId], ids: [first.id, third.id] })).toEqual([
        fourth.id,
        third.id,
      ]);
    });
  });
}
