import type { Deployment } from "./deployment.ts";

/**
 * Returns the key of the caches that the build of a deployment may use. Pull requests have their own, so that none can
 * leave anything in those of production; each one from a fork has its own.
 */
export function buildCacheKey({ projectId, pullRequest }: Pick<Deployment, "projectId" | "pullRequest">): string {
  if (!pullRequest) return projectId;
  return pullRequest.fork ? `${projectId}_pr${pullRequest.number}` : `${projectId}_prs`;
}
