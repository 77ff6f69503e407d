import type { Deployment } from "../../domain/deployments/deployment.ts";
import { previewsOf, type Project } from "../../domain/projects/project.ts";
import type { PullRequests } from "../../ports/githost/pull_requests.ts";

export interface PullRequestObstaclePorts {
  readonly pullRequests: Pick<PullRequests, "closed">;
}

/** Returns why the preview of a pull request may not be deployed any more; `undefined` if it may, and for other deployments. */
export async function pullRequestObstacle(
  { pullRequests }: PullRequestObstaclePorts,
  project: Pick<Project, "id" | "settings">,
  { pullRequest }: Pick<Deployment, "pullRequest">,
): Promise<string | undefined> {
  if (!pullRequest) return undefined;
  if (!previewsOf(project).enabled) return "the project makes no previews of pull requests any more";
  const isClosed = (await pullRequests.closed(project.id)).has(pullRequest.number);
  return isClosed ? `pull request ${pullRequest.number} was closed` : undefined;
}
