import { sourceNeed } from "../../domain/services/source_need.ts";
import type { ServiceSpec } from "../../domain/services/service_spec.ts";
import type { DeploymentSource } from "../../domain/deployments/deployment.ts";
import { invalid } from "../../domain/failure.ts";
import { type Project, sourceOf } from "../../domain/projects/project.ts";

export interface LinkedSourceSettings {
  /** Where repositories of the git host are cloned from. */
  readonly githostUrl: string;
}

export interface LinkedSourceQuery {
  /** The services, where somebody says which. */
  readonly given: readonly ServiceSpec[] | undefined;
  /** The branch that was asked for; the project's own otherwise. */
  readonly branch: string | undefined;
}

/** What a deployment of a project is fetched from unless something was uploaded for it: what the project is linked to, or nothing where its services are all images. */
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
