import type { Deployment } from "../../domain/deployments/deployment.ts";
import type { Listing, Page } from "../../domain/page.ts";
import type {
  DeploymentFilter,
  DeploymentHistory,
  PlacedDeployment,
} from "../../ports/deployments/deployment_history.ts";
import type { Database, Sql } from "./database.ts";
import { type PlacedRow, placedColumns, placedVersion, toPlaced } from "./deployment_row.ts";
import { deploymentTotal } from "./deployment_total.ts";
import { ReadMemory } from "./read_memory.ts";
import { readKnownPage, readKnownRow } from "./read_page.ts";

/** Reads deployments for display from PostgreSQL, each list and each deployment with one statement. */
export class PostgresDeploymentHistory implements DeploymentHistory {
  readonly #database: Database;
  readonly #pages = new ReadMemory<readonly PlacedDeployment[]>();
  readonly #rows = new ReadMemory<PlacedDeployment>();

  constructor(database: Database) {
    this.#database = database;
  }

  async find(organizationId: string, id: string): Promise<PlacedDeployment | undefined> {
    return readKnownRow<PlacedRow, PlacedDeployment>(
      this.#database,
      { key: `${organizationId} ${id}`, memory: this.#rows },
      (sql, known) => sql<(PlacedRow & { readonly found_version: string })[]>`
        select found_version, id, organization_id, project_id, version, status, held, cancel_requested, attempts,
          created_at, queued_at, active, waiting_for, case when found_version <> ${known} then record end as record
        from (
          select *, id || ' ' || xmin || coalesce(waiting_for, '') as found_version
          from (
            select *, xmin, case when status = 'queued' then (
              select busy.id from deployments as busy
              where busy.project_id = deployments.project_id
                and busy.status in ('building', 'deploying', 'partial_failure')) end as waiting_for
            from deployments where id = ${id} and organization_id = ${organizationId}
          ) as placed
        ) as versioned`,
      toPlaced,
    );
  }

  async list(organizationId: string, filter: DeploymentFilter, page: Page): Promise<Listing<PlacedDeployment>> {
    const { projectIds, ids = [], projectId, status, environment, branch } = filter;
    return readKnownPage<PlacedRow, PlacedDeployment>(
      this.#database,
      { key: JSON.stringify([organizationId, filter]), page, memory: this.#pages },
      (sql) => ({
        columns: placedColumns(sql),
        version: placedVersion(sql),
        from: sql`deployments where organization_id = ${organizationId}
          ${projectId === undefined ? sql`` : sql`and project_id = ${projectId}`}
          ${projectIds ? sql`and (project_id = any (${projectIds}::text[]) or id = any (${ids}::text[]))` : sql``}
          ${status === undefined ? sql`` : sql`and status = ${status}`}
          ${environment === undefined ? sql`` : inEnvironment(sql, environment)}
          ${branch === undefined ? sql`` : sql`and branch = ${branch}`}`,
        order: sql`created_at desc, id desc`,
        ...deploymentTotal(sql, organizationId, filter),
      }),
      toPlaced,
    );
  }
}

/** As text, so that the partial index of previews is used. */
function inEnvironment(sql: Sql, environment: Deployment["environment"]) {
  return environment === "preview" ? sql`and environment = 'preview'` : sql`and environment = 'production'`;
}
