import { sourceNeed } from "../../../domain/services/source_need.ts";
import type { ServiceSpec } from "../../../domain/services/service_spec.ts";
import type { DeploymentSource } from "../../../domain/deployments/deployment.ts";
import { invalid } from "../../../domain/failure.ts";
import { type Project, sourceOf } from "../../../domain/projects/project.ts";

export interface LinkedSourceSettings {
  /** Base URL that repositories of the git host are cloned from. */
  readonly githostUrl: string;
}

export interface LinkedSourceQuery {
  /** The services, if given explicitly. */
  readonly given: readonly ServiceSpec[] | undefined;
  /** The requested branch; defaults to the project's. */
  readonly branch: string | undefined;
}

/**
 * Returns the source of a deployment without an upload: what the project is linked to, or none if its services are all
 * images.
 */
export function linkedSource(
  { githostUrl }: LinkedSourceSettings,
  { settings }: Pick<Project, "settings">,
  { given, branch }: LinkedSourceQuery,
): { readonly source: DeploymentSource; readonly branch: string | null } {
  const { gitOwner, gitRepo, gitUrl, gitBranch, localPath } = settings;
  const need = given ? sourceNeed(given) : "all";
  const kind = sourceOf(settings);
  const wanted = branch ?? gitBranch ?? null;
  if (need === "nothing" || (need === "files" && kind === "upload"))
    return { source: { kind: "none" }, branch: branch ?? null };
  if (kind === "githost") {
    const url = `${githostUrl}/${gitOwner}/${gitRepo}.git`;
    return { source: { kind: "git", url, branch: wanted, commit: null }, branch: wanted };
  }
  if (kind === "git")
    return { source: { kind: "git", url: gitUrl ?? "", branch: wanted, commit: null }, branch: wanted };
  if (kind === "local") return { source: { kind: "local", path: localPath ?? "" }, branch: null };
  throw invalid(
    "no_source",
    "Cannot deploy: the project has no source. Upload a folder (uploadSessionId), link a repository or set gitUrl",
  );
}
