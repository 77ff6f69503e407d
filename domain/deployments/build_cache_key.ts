import type { Deployment } from "./deployment.ts";

/**
 * Returns the key of the caches that the build of a deployment may use. Previews have their own, so that none of them
 * finds in a cache what a production build left there, such as a secret, or leaves anything for one; each pull request
 * from a fork has its own.
 */
export function buildCacheKey({
  environment,
  projectId,
  pullRequest,
}: Pick<Deployment, "environment" | "projectId" | "pullRequest">): string {
  if (environment === "production") return projectId;
  return pullRequest?.fork ? `${projectId}_pr${pullRequest.number}` : `${projectId}_previews`;
}
