import type { Deployment, DeploymentStatus } from "../../domain/deployments/deployment.ts";
import type { CommitReport, CommitReports } from "../../ports/githost/commit_reports.ts";
import type { Database, Sql } from "./database.ts";
import { milliseconds } from "./milliseconds.ts";
import type { PostgresSignals } from "./signals.ts";

interface ReportRow {
  readonly project_id: string;
  readonly environment: Deployment["environment"];
  readonly commit_sha: string;
  readonly deployment_id: string;
  readonly status: DeploymentStatus;
  readonly failures: number;
  readonly attempt: number;
}

/** The NOTIFY channel on which a trigger announces that there is something to report. */
const REPORTS_CHANNEL = "slipway_commit_reports";

/** Stores in PostgreSQL what has to be reported to commits. A trigger on deployments enters it. */
export class PostgresCommitReports implements CommitReports {
  readonly #database: Database;
  readonly #signals: PostgresSignals;

  constructor(database: Database, signals: PostgresSignals) {
    this.#database = database;
    this.#signals = signals;
    // Listens from the start, so that no notification is missed between the first handler and its LISTEN.
    signals.subscribe(REPORTS_CHANNEL, () => {});
  }

  async take(leaseMs: number): Promise<CommitReport | undefined> {
    const [row] = await this.#database.run(
      (sql) => sql<ReportRow[]>`
        with due as (
          select project_id, environment, commit_sha from commit_reports
          where due_at <= now() and (lease_until is null or lease_until <= now())
          order by due_at limit 1 for update skip locked
        )
        update commit_reports as taken set attempt = attempt + 1, lease_until = now() + ${milliseconds(sql, leaseMs)}
        from due
        where taken.project_id = due.project_id and taken.environment = due.environment
          and taken.commit_sha = due.commit_sha
        returning taken.project_id, taken.environment, taken.commit_sha, deployment_id, status, failures, attempt`,
    );
    return row && toReport(row);
  }

  async finish(report: CommitReport): Promise<void> {
    await this.#database.run(
      (sql) => sql`
        update commit_reports
        set due_at = case when ${isHeld(sql, report)} and ${isSame(sql, report)} then null else now() end,
          lease_until = case when ${isHeld(sql, report)} then null else lease_until end,
          attempt = case when ${isHeld(sql, report)} then attempt else attempt + 1 end
        where ${isEntry(sql, report)}`,
    );
  }

  async retry(
    report: CommitReport,
    { afterMs, failures }: { readonly afterMs: number; readonly failures: number },
  ): Promise<void> {
    await this.#database.run(
      (sql) => sql`
        update commit_reports
        set due_at = now() + ${milliseconds(sql, afterMs)}, lease_until = null,
          failures = case when ${isSame(sql, report)} then ${failures}::integer else 0 end
        where ${isEntry(sql, report)} and ${isHeld(sql, report)}`,
    );
  }

  async nextDueMs(): Promise<number | null> {
    const [row] = await this.#database.run(
      (sql) => sql<{ ms: number | null }[]>`
        select greatest(extract(epoch from min(greatest(due_at, lease_until)) - now()) * 1000, 0)::double precision as ms
        from commit_reports where due_at is not null
        having count(*) > 0`,
    );
    return row?.ms ?? null;
  }

  onDue(handler: () => void): () => void {
    const stops = [this.#signals.subscribe(REPORTS_CHANNEL, () => handler()), this.#signals.onReset(() => handler())];
    return () => stops.forEach((stop) => stop());
  }
}

function isEntry(sql: Sql, { projectId, environment, commitSha }: CommitReport) {
  return sql`(project_id = ${projectId} and environment = ${environment} and commit_sha = ${commitSha})`;
}

function isHeld(sql: Sql, { attempt }: CommitReport) {
  return sql`(attempt = ${attempt}::integer)`;
}

function isSame(sql: Sql, { deploymentId, status }: CommitReport) {
  return sql`(deployment_id = ${deploymentId} and status = ${status})`;
}

function toReport(row: ReportRow): CommitReport {
  return {
    projectId: row.project_id,
    environment: row.environment,
    commitSha: row.commit_sha,
    deploymentId: row.deployment_id,
    status: row.status,
    failures: row.failures,
    attempt: row.attempt,
  };
}
