import { Failure } from "../../domain/failure.ts";
import { deployedRepository } from "../../domain/githost/deployed_repository.ts";
import { deploymentCommitStatus } from "../../domain/githost/deployment_commit_status.ts";
import { loggedError } from "../../domain/logged_error.ts";
import type { Deployments } from "../../ports/deployments/deployments.ts";
import type { CommitReport, CommitReports } from "../../ports/githost/commit_reports.ts";
import type { Projects } from "../../ports/projects/projects.ts";
import type { Log } from "../../ports/system/log.ts";
import { setCommitStatus, type SetCommitStatusPorts } from "./set_commit_status.ts";

export interface ReportCommitPorts extends SetCommitStatusPorts {
  readonly commitReports: CommitReports;
  readonly deployments: Deployments;
  readonly githostUrl: string;
  readonly log: Log;
  readonly projects: Projects;
  /** Returns the address that visitors reach a host name at. */
  readonly urlOf: (hostname: string) => string;
}

/** A report may take this long; less than its lease, so that no other process begins meanwhile. */
export const REPORT_MS = 35_000;

/** Pauses after failures. After the last one, the report is given up. */
const RETRY_DELAYS_MS = [5_000, 30_000, 120_000, 600_000, 1_800_000] as const;
const LONGEST_DELAY_MS = 3_600_000;
const REFUSED_MS = 3_600_000;

/**
 * Reports the status of a deployment to its commit. Rollbacks, promotions and redeploys are reported as any other
 * deployment, so that a commit shows the outcome of the last attempt to deploy it. While the git host fails, it is tried
 * again a few times. Where no source may set statuses, the project's commits get none for an hour.
 */
export function reportCommit(ports: ReportCommitPorts) {
  const { commitReports, clock, log } = ports;
  const set = setCommitStatus(ports);
  /** Until when commits of a project get no status, in milliseconds, by project. */
  const refusedUntil = new Map<string, number>();

  return async function (report: CommitReport, signal: AbortSignal): Promise<void> {
    try {
      await attempt(report, AbortSignal.any([signal, AbortSignal.timeout(REPORT_MS)]));
      await commitReports.finish(report);
    } catch (error) {
      const { failures } = report;
      if (signal.aborted) await commitReports.retry(report, { afterMs: 0, failures });
      else await retryOrGiveUp(ports, report, error);
    }
  };

  async function attempt(report: CommitReport, signal: AbortSignal): Promise<void> {
    const deployment = await ports.deployments.get(report.deploymentId);
    // A deployment that has changed since is taken again with its new status.
    if (deployment?.status !== report.status) return;
    const project = await ports.projects.find(deployment.organizationId, deployment.projectId);
    const name = project && deployedRepository(deployment, project, ports.githostUrl);
    if (!name || clock.now().getTime() < (refusedUntil.get(project.id) ?? 0)) return;
    const status = deploymentCommitStatus(deployment, { slug: project.slug, url: ports.urlOf(project.hostname) });
    const refusal = await set(project.organizationId, { name, sha: report.commitSha, status }, signal);
    if (refusal) noteRefusal(report, refusal);
  }

  function noteRefusal({ projectId, commitSha }: CommitReport, refusal: Failure): void {
    const about = { projectId, commitSha, ...loggedError(refusal) };
    if (refusal.code === "commit_not_found") return log.write("debug", "A commit gets no status", about);
    const now = clock.now().getTime();
    for (const [id, until] of refusedUntil) if (until <= now) refusedUntil.delete(id);
    refusedUntil.set(projectId, now + REFUSED_MS);
    log.write("debug", "The commits of a project get no statuses for an hour", about);
  }
}

async function retryOrGiveUp(
  { commitReports, log }: Pick<ReportCommitPorts, "commitReports" | "log">,
  report: CommitReport,
  error: unknown,
): Promise<void> {
  const { projectId, deploymentId, commitSha, failures } = report;
  const delay = RETRY_DELAYS_MS[failures];
  if (delay !== undefined) {
    const wanted = error instanceof Failure ? (error.retryAfter ?? 0) * 1_000 : 0;
    const afterMs = Math.min(Math.max(delay, wanted), LONGEST_DELAY_MS);
    return commitReports.retry(report, { afterMs, failures: failures + 1 });
  }
  await commitReports.finish(report);
  const about = { projectId, deploymentId, commitSha, ...loggedError(error) };
  log.write("warn", "The status of a deployment was not reported to its commit", about);
}
