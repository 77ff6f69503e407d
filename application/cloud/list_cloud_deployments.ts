import { type ActingMember, grantsOnDeployments, grantsOnProjects } from "../../domain/cloud/acting_member.ts";
import { CLOUD_UNLINKED, cloudUnreadable } from "../../domain/cloud/cloud_failures.ts";
import { Failure, invalidField } from "../../domain/failure.ts";
import type { Principal } from "../../domain/identity/permission.ts";
import type { Listing } from "../../domain/page.ts";
import type { CloudAddress, CloudApi } from "../../ports/cloud/cloud_api.ts";
import type { Users } from "../../ports/identity/users.ts";
import type { Projects } from "../../ports/projects/projects.ts";
import type { DeploymentSelection } from "../deployments/list_deployments.ts";
import { actingFor } from "./acting_for.ts";
import { cloudAnswer } from "./cloud_answer.ts";
import { findCloud, type FindCloudPorts } from "./find_cloud.ts";

export interface ListCloudDeploymentsPorts extends FindCloudPorts {
  readonly cloudApi: CloudApi;
  readonly mode: "self-hosted" | "cloud";
  readonly projects: Projects;
  readonly users: Users;
}

/** A deployment as the cloud shows it. */
export interface ListedInCloud extends Readonly<Record<string, unknown>> {
  readonly id: string;
  readonly createdAt: string;
}

/** The newest deployments of cloud projects; `missing` says why they could not be read. */
export interface CloudListing extends Listing<ListedInCloud> {
  readonly missing: string | null;
}

/** How many deployments are wanted, counted from the newest. */
export interface WantedNewest {
  readonly count: number;
  readonly signal: AbortSignal;
}

/** The number of newest deployments that a list can show, of which each page reads all before it. */
const MOST = 2_000;
const PER_PAGE = 100;
/** As many grants fit into a request header. */
const PROJECTS_AT_ONCE = 60;
const ALL = { page: 1, perPage: 1_000 } as const;
const LIMIT_MS = 10_000;

/**
 * Lists the newest deployments of the organization's cloud projects that the caller may see; `undefined` if it has no
 * cloud project. A cloud that does not answer, or refuses, is no failure of the list.
 */
export function listCloudDeployments(ports: ListCloudDeploymentsPorts) {
  const find = findCloud(ports);
  const act = actingFor(ports);
  return async function (
    by: Principal,
    { projectId, ...filter }: DeploymentSelection,
    { count, signal }: WantedNewest,
  ): Promise<CloudListing | undefined> {
    if (ports.mode === "cloud") return undefined;
    const ids = projectId === undefined ? {} : { ids: [projectId] };
    const { items } = await ports.projects.list(by.organizationId, { ...ids, inCloud: true }, ALL);
    const onProjects = grantsOnProjects(
      by,
      items.map(({ id }) => id),
    );
    const grants = items.length === 0 ? [] : [...onProjects, ...grantsOnDeployments(by)];
    if (grants.length === 0) return undefined;
    if (count > MOST)
      throw invalidField("page", `with cloud projects, only the newest ${MOST} can be listed. Filter them by project`);
    try {
      const cloud = await find(by.organizationId);
      if (!cloud) return { items: [], total: 0, missing: CLOUD_UNLINKED };
      const query = new URLSearchParams(filter);
      const starts = Array.from(
        { length: Math.ceil(grants.length / PROJECTS_AT_ONCE) },
        (_, at) => at * PROJECTS_AT_ONCE,
      );
      const parts = await Promise.all(
        starts.map(async (start) => {
          const member = await act(by, grants.slice(start, start + PROJECTS_AT_ONCE));
          return newest(cloud, { member, query, count, signal });
        }),
      );
      return { items: parts.flatMap((part) => part.items), total: sumOf(parts), missing: null };
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      return { items: [], total: 0, missing: error.message };
    }
  };

  async function newest(
    cloud: CloudAddress,
    asked: WantedNewest & { readonly member: ActingMember; readonly query: URLSearchParams },
  ): Promise<Listing<ListedInCloud>> {
    const items: ListedInCloud[] = [];
    for (let page = 1; ; page++) {
      const query = new URLSearchParams(asked.query);
      query.set("page", String(page));
      query.set("perPage", String(Math.min(PER_PAGE, asked.count)));
      const request = { method: "GET", path: `/api/deployments?${query}`, limitMs: LIMIT_MS, signal: asked.signal };
      const answer = await cloudAnswer(await ports.cloudApi.send(cloud, { ...request, actingMember: asked.member }));
      const { data, total } = answer;
      if (!Array.isArray(data) || !data.every(isListed) || !isCount(total)) throw cloudUnreadable();
      items.push(...data);
      if (items.length >= Math.min(asked.count, total) || data.length === 0) return { items, total };
    }
  }
}

function sumOf(parts: readonly Listing<unknown>[]): number {
  return parts.reduce((sum, { total }) => sum + total, 0);
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function isListed(value: unknown): value is ListedInCloud {
  if (typeof value !== "object" || value === null || !("id" in value) || !("createdAt" in value)) return false;
  return typeof value.id === "string" && typeof value.createdAt === "string";
}
