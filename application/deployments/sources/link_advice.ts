import type { Project } from "../../../domain/projects/project.ts";

/** Says what to do when a repository of the git host cannot be cloned as it is linked; `undefined` for other sources. */
export function linkAdvice({ id, settings }: Pick<Project, "id" | "settings">): string | undefined {
  const { gitAccess, gitOwner, gitRepo } = settings;
  if (gitOwner === undefined || gitRepo === undefined) return undefined;
  if (gitAccess)
    return `Check that the connected git host still shows it (GET /api/githost/repos/${gitOwner}/${gitRepo}), or connect it again`;
  const why = "It was linked while the git host was not connected, so it is cloned as the public sees it";
  return `${why}. Connect the git host, then link the repository again (POST /api/projects/${id}/git/link)`;
}
