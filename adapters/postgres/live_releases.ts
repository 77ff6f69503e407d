import { claimVoid } from "../../domain/deployments/claim_void.ts";
import type { WorkClaim } from "../../ports/deployments/deployment_queue.ts";
import type { Deployments } from "../../ports/deployments/deployments.ts";
import type { LiveRelease, LiveReleases } from "../../ports/deployments/live_releases.ts";
import type { Projects } from "../../ports/projects/projects.ts";
import { isClaimed } from "./claimed.ts";
import type { Database, Sql } from "./database.ts";
import type { PostgresSignals } from "./signals.ts";

const LIVE_CHANNEL = "slipway_live";

interface LiveRow {
  readonly id: string;
  readonly organization_id: string;
  readonly active_deployment_id: string;
}

/** Reads live releases from PostgreSQL. */
export class PostgresLiveReleases implements LiveReleases {
  readonly #database: Database;
  readonly #signals: PostgresSignals;
  readonly #stores: { readonly projects: Projects; readonly deployments: Deployments };

  constructor(
    database: Database,
    signals: PostgresSignals,
    stores: { readonly projects: Projects; readonly deployments: Deployments },
  ) {
    this.#database = database;
    this.#signals = signals;
    this.#stores = stores;
  }

  async list(): Promise<readonly LiveRelease[]> {
    const rows = await this.#database.run((sql) => sql<LiveRow[]>`${liveRows(sql, null)} order by 1, 3`);
    const found = await Promise.all(rows.map((row) => this.#read(row)));
    return found.filter((release) => release !== undefined);
  }

  async find(key: string): Promise<LiveRelease | undefined> {
    const [row] = await this.#database.run((sql) => sql<LiveRow[]>`${liveRows(sql, key)}`);
    return row && this.#read(row);
  }

  async among(deploymentIds: readonly string[]): Promise<ReadonlySet<string>> {
    if (deploymentIds.length === 0) return new Set();
    const rows = await this.#database.run(
      (sql) => sql<{ id: string }[]>`
        select active_deployment_id as id from projects where active_deployment_id = any (${deploymentIds}::text[])`,
    );
    return new Set(rows.map(({ id }) => id));
  }

  async activate(
    deploymentId: string | null,
    { claim, at }: { readonly claim: WorkClaim; readonly at: Date },
  ): Promise<void> {
    // Locks the project first, in the same order as removing one of its deployments. No other worker takes the claimed
    // deployment before this commits.
    const { count } = await this.#database.run(
      (sql) => sql`
        with project as (
          select projects.id from projects join deployments on deployments.project_id = projects.id
          where deployments.id = ${claim.deploymentId} for no key update of projects
        ), claimed as (
          select deployments.project_id from deployments join project on project.id = deployments.project_id
          where ${isClaimed(sql, claim)} for no key update of deployments
        )
        update projects set active_deployment_id = ${deploymentId}, updated_at = ${at}, revision = revision + 1
        from claimed where projects.id = claimed.project_id`,
    );
    if (count === 0) throw claimVoid();
  }

  async announce(key: string): Promise<void> {
    await this.#signals.publish(LIVE_CHANNEL, key);
  }

  onChange(handler: (key: string | null) => unknown): () => void {
    const stops = [this.#signals.subscribe(LIVE_CHANNEL, handler), this.#signals.onReset(() => handler(null))];
    return () => stops.forEach((stop) => stop());
  }

  followed(limitMs: number): Promise<boolean> {
    return this.#signals.handled(limitMs);
  }

  async #read({ id, organization_id, active_deployment_id }: LiveRow): Promise<LiveRelease | undefined> {
    const [project, deployment] = await Promise.all([
      this.#stores.projects.find(organization_id, id),
      this.#stores.deployments.find(organization_id, active_deployment_id),
    ]);
    return project && deployment && { project, deployment };
  }
}

/** Selects live releases: all, or the one with this key. */
function liveRows(sql: Sql, key: string | null) {
  const only = key === null ? sql`` : sql`and id = ${key}`;
  return sql`
    select id, organization_id, active_deployment_id from projects where active_deployment_id is not null ${only}
    union all
    select project_id, organization_id, id from deployments
    where status = 'ready' and environment = 'preview' and record ->> 'artifactAvailable' = 'true' ${only}`;
}
