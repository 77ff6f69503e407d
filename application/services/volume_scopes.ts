import { usesContainers } from "../../domain/deployments/instance_id.ts";
import type { Deployment } from "../../domain/deployments/deployment.ts";

/** The scopes that hold the volumes of a project. */
export interface VolumeScopes {
  /** The project itself, whose volumes all its releases share, then its previews, each with volumes of its own. */
  readonly scopes: readonly string[];
  /** Whether anything of the project ever ran in containers; nothing else has volumes. */
  readonly isInContainers: boolean;
}

/** Returns the volume scopes of a project with these deployments. */
export function volumeScopes(projectId: string, ofProject: readonly Deployment[]): VolumeScopes {
  const previews = ofProject.filter(({ environment }) => environment === "preview");
  return { scopes: [projectId, ...previews.map(({ id }) => id)], isInContainers: ofProject.some(usesContainers) };
}
