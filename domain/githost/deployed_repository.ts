import type { Deployment } from "../deployments/deployment.ts";
import type { Project } from "../projects/project.ts";
import type { RepositoryName } from "./repository.ts";

/**
 * Returns the repository of the git host that a deployment of a project was built from; `undefined` if it was built from
 * something else, runs elsewhere, or nobody who sees the repository has linked it.
 */
export function deployedRepository(
  { source }: Pick<Deployment, "source">,
  { location, settings: { gitAccess, gitOwner, gitRepo } }: Pick<Project, "location" | "settings">,
  githostUrl: string,
): RepositoryName | undefined {
  if (location !== "local" || !gitAccess || !gitOwner || !gitRepo) return undefined;
  const origin = source.kind === "artifact" ? source.fallback : source;
  const url = `${githostUrl}/${gitOwner}/${gitRepo}.git`;
  const isLinked = origin?.kind === "git" && origin.url.toLowerCase() === url.toLowerCase();
  return isLinked ? { owner: gitOwner, repo: gitRepo } : undefined;
}
