import type { DeploymentFilter } from "../../ports/deployments/deployment_history.ts";
import type { Sql } from "./database.ts";
import type { PageQuery } from "./read_page.ts";

/** Returns the stored number of deployments that a filter selects, where there is one. */
export function deploymentTotal(sql: Sql, organizationId: string, filter: DeploymentFilter): Pick<PageQuery, "total"> {
  const { projectIds, projectId, status, environment, branch } = filter;
  // Branches are too many to count each.
  if (projectIds !== undefined || branch !== undefined) return {};
  const owner =
    projectId === undefined
      ? sql`${organizationId}`
      : sql`(select id from projects where id = ${projectId} and organization_id = ${organizationId})`;
  return {
    total: sql`(select coalesce(sum(count), 0)::bigint from deployment_counts where owner_id = ${owner}
      ${status === undefined ? sql`` : sql`and status = ${status}`}
      ${environment === undefined ? sql`` : sql`and environment = ${environment}`})`,
  };
}
