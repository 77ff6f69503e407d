import { commitOf } from "../../../domain/deployments/commit.ts";
import type { ServiceSpec } from "../../../domain/services/service_spec.ts";
import { sourceNeed } from "../../../domain/services/source_need.ts";
import type { Deployment, DeploymentSource } from "../../../domain/deployments/deployment.ts";
import { isRunning } from "../../../domain/deployments/transitions.ts";
import { invalid } from "../../../domain/failure.ts";
import type { Project } from "../../../domain/projects/project.ts";
import type { KeptSources } from "../../../ports/projects/kept_sources.ts";
import { linkedSource, type LinkedSourceSettings } from "./linked_source.ts";
import type { NewDeployment } from "../make_deployment.ts";

export interface SourceAgainPorts extends LinkedSourceSettings {
  readonly keptSources: KeptSources;
}

export interface SourceAgainQuery {
  readonly old: Deployment;
  readonly project: Project;
  /** The services, if given explicitly. */
  readonly given: readonly ServiceSpec[] | undefined;
  /** Whether to build exactly the commit or the files of the old deployment. */
  readonly useExistingCommit: boolean;
}

type Origin = Pick<NewDeployment, "source" | "branch" | "commit">;

/**
 * Returns the source for building a deployment again: what its project is linked to now, or exactly what it was built
 * from. An upload never has a newer version; services that are all images need no source.
 */
export async function sourceAgain(
  ports: SourceAgainPorts,
  { old, project, given, useExistingCommit }: SourceAgainQuery,
): Promise<Origin> {
  const from = originOf(old);
  const isNeedless = given !== undefined && sourceNeed(given) === "nothing";
  if (from === "none" || isNeedless || (from !== "upload" && !useExistingCommit))
    return linkedSource(ports, project, { given, branch: old.branch ?? undefined });
  if (from !== "git") return { source: await filesOf(ports, old) };
  return { source: exactCommit(old), commit: commitOf(old), branch: old.branch };
}

/** The commit that a deployment was built from. */
export function exactCommit({ commitSha, source }: Deployment): DeploymentSource {
  const origin = source.kind === "artifact" ? source.fallback : source;
  if (origin?.kind !== "git" || !commitSha) {
    throw invalid("no_commit", "Cannot build exactly this again: its commit is not known. Leave useExistingCommit out");
  }
  return { ...origin, commit: commitSha };
}

/** The original source kind of a deployment's code. */
export function originOf({ source }: Pick<Deployment, "source">): "git" | "local" | "none" | "upload" {
  if (source.kind !== "artifact" && source.kind !== "copy") return source.kind;
  if (source.kind === "artifact" && source.fallback?.kind === "git") return "git";
  return source.localPath === undefined ? "upload" : "local";
}

/** The folder of this machine that the files of a deployment originally came from. */
export function localPathOf({ source }: Pick<Deployment, "source">): { readonly localPath?: string } {
  if (source.kind === "local") return { localPath: source.path };
  const isCopied = source.kind === "artifact" || source.kind === "copy";
  return isCopied && source.localPath !== undefined ? { localPath: source.localPath } : {};
}

/** The files that a deployment was built from, or its release folder if it predates kept sources. */
async function filesOf({ keptSources }: SourceAgainPorts, old: Deployment): Promise<DeploymentSource> {
  const keptFor = old.source.kind === "artifact" ? old.source.deploymentId : old.id;
  const isKept = await keptSources.has(keptFor);
  if (!isKept && (isRunning(old) || !old.artifactAvailable)) {
    const next = originOf(old) === "local" ? "Leave useExistingCommit out" : "Upload the folder again";
    throw invalid("artifact_gone", `Cannot build this again: its files are gone. ${next}`);
  }
  return { kind: "copy", deploymentId: isKept ? keptFor : (old.artifactOf ?? old.id), ...localPathOf(old) };
}
