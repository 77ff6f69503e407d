import type { Deployment } from "../../domain/deployments/deployment.ts";
import type { DeploymentQueue, WorkClaim, WorkRequest } from "../../ports/deployments/deployment_queue.ts";
import type { Database } from "./database.ts";
import { isClaimed } from "./claimed.ts";
import { deploymentColumns, type DeploymentRow, toDeployment } from "./deployment_row.ts";
import { milliseconds } from "./milliseconds.ts";
import type { PostgresSignals } from "./signals.ts";

/** The NOTIFY channel that signals that there may be work on deployments. */
export const WORK_CHANNEL = "slipway_work";

/** The deployment queue in PostgreSQL. */
export class PostgresDeploymentQueue implements DeploymentQueue {
  readonly #database: Database;
  readonly #signals: PostgresSignals;

  constructor(database: Database, signals: PostgresSignals) {
    this.#database = database;
    this.#signals = signals;
    // Listens from the start, so that no notification is missed between the first handler and its LISTEN.
    signals.subscribe(WORK_CHANNEL, () => {});
  }

  async take({ owner, leaseMs, maxBuilds }: WorkRequest): Promise<Deployment | undefined> {
    const [row] = await this.#database.run(
      (sql) => sql<DeploymentRow[]>`
        select ${deploymentColumns(sql)} from slipway_take_deployment(${owner}, ${milliseconds(sql, leaseMs)}, ${maxBuilds})`,
    );
    return row && toDeployment(row);
  }

  async renew(claim: WorkClaim, leaseMs: number): Promise<"held" | "lost" | "cancel"> {
    // Not flushed to disk: a database that crashes may forget the last 0.6 s of renewals, less than workers keep in
    // reserve.
    const [row] = await this.#database.run(
      (sql) => sql<{ cancel_requested: boolean }[]>`
        update deployments set lease_until = now() + ${milliseconds(sql, leaseMs)}
        where ${isClaimed(sql, claim)} and set_config('synchronous_commit', 'off', true) is not null
        returning cancel_requested`,
    );
    if (!row) return "lost";
    return row.cancel_requested ? "cancel" : "held";
  }

  async overdue(heldMs: number): Promise<readonly string[]> {
    const rows = await this.#database.run(
      (sql) => sql<{ id: string }[]>`
        select id from deployments
        where held and status in ('queued', 'building', 'deploying')
          and (answer_due <= now() or (status = 'queued' and queued_at < now() - ${milliseconds(sql, heldMs)}))
        order by queued_at, id`,
    );
    return rows.map(({ id }) => id);
  }

  async release(claim: WorkClaim): Promise<void> {
    await this.#database.run(
      (sql) => sql`
        with released as (
          update deployments set lease_owner = null, lease_until = null where ${isClaimed(sql, claim)}
          returning id
        )
        select pg_notify(${WORK_CHANNEL}, '')::text from released`,
    );
  }

  async isTaken(projectId: string): Promise<boolean> {
    const rows = await this.#database.run(
      (sql) => sql`
        select 1 from deployments
        where project_id = ${projectId} and lease_owner is not null
          and (lease_until > clock_timestamp()
            or (not held and status in ('queued', 'building', 'deploying', 'partial_failure')))
        limit 1`,
    );
    return rows.length > 0;
  }

  onWork(handler: () => void): () => void {
    const stops = [this.#signals.subscribe(WORK_CHANNEL, () => handler()), this.#signals.onReset(() => handler())];
    return () => stops.forEach((stop) => stop());
  }
}
