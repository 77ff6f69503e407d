import type { Deployment } from "../../domain/deployments/deployment.ts";
import type { CommitReport } from "../../ports/githost/commit_reports.ts";
import type { MemoryTables } from "./memory_tables.ts";

/** Enters what a stored deployment has to report to its commit, as a trigger of the database does. */
export function enterCommitReport(tables: MemoryTables, before: Deployment | undefined, after: Deployment): void {
  const { commitSha, environment, id, projectId, source, status, version } = after;
  if (commitSha === null || (before?.status === status && before.commitSha === commitSha)) return;
  const project = tables.projects.get(projectId);
  const isLinked = project?.location === "local" && project.settings.gitAccess && project.settings.gitOwner;
  if (!isLinked || (source.kind !== "git" && source.kind !== "artifact")) return;
  const key = reportKey({ projectId, environment, commitSha });
  const known = tables.commitReports.get(key);
  if (known && known.version > version) return;
  const attempt = known?.report.attempt ?? 0;
  tables.commitReports.set(key, {
    report: { projectId, environment, commitSha, deploymentId: id, status, failures: 0, attempt },
    version,
    dueAt: known?.dueAt ?? tables.clock.now(),
    leaseUntil: known?.leaseUntil ?? null,
  });
  for (const handler of tables.reportHandlers) queueMicrotask(handler);
}

/** The key that a report is stored under. */
export function reportKey({
  projectId,
  environment,
  commitSha,
}: Pick<CommitReport, "projectId" | "environment" | "commitSha">): string {
  return `${projectId} ${environment} ${commitSha}`;
}
