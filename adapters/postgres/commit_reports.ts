import type { Deployment, DeploymentStatus } from "../../domain/deployments/deployment.ts";
import type { CommitReport, CommitReports } from "../../ports/githost/commit_reports.ts";
import type { Database } from "./database.ts";
import { type OutboxTable, PostgresOutbox } from "./outbox.ts";
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

const TABLE: OutboxTable<ReportRow, CommitReport> = {
  table: "commit_reports",
  keys: ["project_id", "environment", "commit_sha"],
  columns: ["project_id", "environment", "commit_sha", "deployment_id", "status", "failures", "attempt"],
  channel: "slipway_commit_reports",
  toEntry: (row) => ({
    projectId: row.project_id,
    environment: row.environment,
    commitSha: row.commit_sha,
    deploymentId: row.deployment_id,
    status: row.status,
    failures: row.failures,
    attempt: row.attempt,
  }),
  isRow: (sql, { projectId, environment, commitSha }) =>
    sql`(project_id = ${projectId} and environment = ${environment} and commit_sha = ${commitSha})`,
  isSame: (sql, { deploymentId, status }) => sql`(deployment_id = ${deploymentId} and status = ${status})`,
};

/** Stores in PostgreSQL what has to be reported to commits. A trigger on deployments enters it. */
export class PostgresCommitReports extends PostgresOutbox<ReportRow, CommitReport> implements CommitReports {
  constructor(database: Database, signals: PostgresSignals) {
    super(database, signals, TABLE);
  }
}
