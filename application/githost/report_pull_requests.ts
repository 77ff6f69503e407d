import { deployedRepository } from "../../domain/githost/deployed_repository.ts";
import { deploymentCommitStatus } from "../../domain/githost/deployment_commit_status.ts";
import { previewComment, previewMarker } from "../../domain/githost/preview_comment.ts";
import { isSameRepository, type RepositoryName } from "../../domain/githost/repository.ts";
import { loggedError } from "../../domain/logged_error.ts";
import type { Deployment } from "../../domain/deployments/deployment.ts";
import type { Project } from "../../domain/projects/project.ts";
import type { PullRequestComments } from "../../ports/githost/pull_request_comments.ts";
import type { PullRequestReport, PullRequests } from "../../ports/githost/pull_requests.ts";
import type { OutboxWork } from "./outbox_worker.ts";
import { RefusedProjects } from "./refused_projects.ts";
import type { ReportCommitPorts } from "./report_commits.ts";
import { setCommitStatus } from "./set_commit_status.ts";
import { writeToRepository } from "./write_to_repository.ts";

export interface ReportPullRequestPorts extends Omit<ReportCommitPorts, "commitReports"> {
  readonly pullRequestComments: PullRequestComments;
  readonly pullRequests: PullRequests;
}

/**
 * Keeps one comment on each pull request that has had a preview, with the preview's status and address. The status of the
 * commit is reported by itself, except that the preview has ended. Where no source may comment, the project's pull
 * requests get no comments for an hour.
 */
export function reportPullRequests(ports: ReportPullRequestPorts): OutboxWork<PullRequestReport> {
  const { clock, log, pullRequests } = ports;
  const write = writeToRepository(ports);
  const setStatus = setCommitStatus(ports);
  const refused = new RefusedProjects(clock);
  return {
    outbox: pullRequests,
    log,
    about: ({ projectId, number }) => ({ projectId, number }),
    givenUp: "The comment on a pull request was not brought up to date",
    async report(report, signal) {
      const project = await ports.projects.find(report.organizationId, report.projectId);
      if (!project || !isLinked(project, report.repository)) return report;
      const all = await ports.deployments.ofProject(project.id);
      const own = all.filter((each) => each.pullRequest?.number === report.number && comesFrom(each, project));
      await reportEnd(own, project, signal);
      return refused.has(project.id) ? report : comment(report, { project, own, signal });
    },
  };

  interface Commented {
    readonly project: Project;
    readonly own: readonly Deployment[];
    readonly signal: AbortSignal;
  }

  async function comment(report: PullRequestReport, { project, own, signal }: Commented): Promise<PullRequestReport> {
    const { commentId, number, repository: name } = report;
    const text = { body: previewComment(project, own), marker: previewMarker(project), commentId };
    const written = await write(
      project.organizationId,
      name,
      (access) => ports.pullRequestComments.put(access, name, number, text, signal),
      signal,
    );
    if ("value" in written) return { ...report, commentId: written.value };
    const about = { projectId: project.id, number, ...loggedError(written.refusal) };
    if (written.refusal.code === "pull_request_not_found") log.write("debug", "A pull request gets no comment", about);
    else {
      refused.add(project.id);
      log.write("debug", "The pull requests of a project get no comments for an hour", about);
    }
    return report;
  }

  /** A status with a link to an address that serves nothing any more would mislead. */
  async function reportEnd(own: readonly Deployment[], project: Project, signal: AbortSignal): Promise<void> {
    const newest = own.toSorted((a, b) => b.version - a.version)[0];
    if (newest?.status !== "ready" || newest.artifactAvailable || newest.commitSha === null) return;
    const name = deployedRepository(newest, project, ports.githostUrl);
    const status = deploymentCommitStatus(newest, { slug: project.slug, url: ports.urlOf(project.hostname) });
    if (name) await setStatus(project.organizationId, { name, sha: newest.commitSha, status }, signal);
  }

  function comesFrom(deployment: Deployment, project: Project): boolean {
    return deployedRepository(deployment, project, ports.githostUrl) !== undefined;
  }
}

/** Whether somebody who sees the repository has linked the project to it. */
function isLinked({ location, settings: { gitAccess, gitOwner, gitRepo } }: Project, name: RepositoryName): boolean {
  if (location !== "local" || !gitAccess || !gitOwner || !gitRepo) return false;
  return isSameRepository({ owner: gitOwner, repo: gitRepo }, name);
}
