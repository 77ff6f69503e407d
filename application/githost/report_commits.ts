import { deployedRepository } from "../../domain/githost/deployed_repository.ts";
import { deploymentCommitStatus } from "../../domain/githost/deployment_commit_status.ts";
import { loggedError } from "../../domain/logged_error.ts";
import type { Deployments } from "../../ports/deployments/deployments.ts";
import type { CommitReport, CommitReports } from "../../ports/githost/commit_reports.ts";
import type { Projects } from "../../ports/projects/projects.ts";
import type { Log } from "../../ports/system/log.ts";
import type { OutboxWork } from "./outbox_worker.ts";
import { RefusedProjects } from "./refused_projects.ts";
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

/**
 * Reports the statuses of deployments to their commits. Rollbacks, promotions and redeploys are reported as any other
 * deployment, so that a commit shows the outcome of the last attempt to deploy it. Where no source may set statuses, the
 * project's commits get none for an hour.
 */
export function reportCommits(ports: ReportCommitPorts): OutboxWork<CommitReport> {
  const { clock, commitReports, log } = ports;
  const set = setCommitStatus(ports);
  const refused = new RefusedProjects(clock);
  return {
    outbox: commitReports,
    log,
    about: ({ projectId, deploymentId, commitSha }) => ({ projectId, deploymentId, commitSha }),
    givenUp: "The status of a deployment was not reported to its commit",
    async report(report, signal) {
      await put(report, signal);
      return report;
    },
  };

  async function put({ commitSha: sha, deploymentId, status }: CommitReport, signal: AbortSignal): Promise<void> {
    const deployment = await ports.deployments.get(deploymentId);
    // A deployment that has changed since is taken again with its new status.
    if (deployment?.status !== status) return;
    const project = await ports.projects.find(deployment.organizationId, deployment.projectId);
    const name = project && deployedRepository(deployment, project, ports.githostUrl);
    if (!name || refused.has(project.id)) return;
    const shown = deploymentCommitStatus(deployment, { slug: project.slug, url: ports.urlOf(project.hostname) });
    const refusal = await set(project.organizationId, { name, sha, status: shown }, signal);
    if (!refusal) return;
    const about = { projectId: project.id, commitSha: sha, ...loggedError(refusal) };
    if (refusal.code === "commit_not_found") return log.write("debug", "A commit gets no status", about);
    refused.add(project.id);
    log.write("debug", "The commits of a project get no statuses for an hour", about);
  }
}
