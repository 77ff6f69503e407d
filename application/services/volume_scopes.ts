import { usesContainers } from "../../domain/deployments/instance_id.ts";
import type { Deployment } from "../../domain/deployments/deployment.ts";

/** Where the volumes of a project are kept. */
export interface VolumeScopes {
  /** The project itself, whose volumes all its releases share, then its previews, each with volumes of its own. */
  readonly scopes: readonly string[];
  /** Whether anything of it was put into containers; nothing else has volumes. */
  readonly isInContainers: boolean;
}

/** Tells in which scopes a project with these deployments has volumes. */
export function volumeScopes(projectId: string, ofProject: readonly Deployment[]): VolumeScopes {
  const previews = ofProject.filter(({ environment }) => environment === "preview");
  return { scopes: [projectId, ...previews.map(({ id }) => id)], isInContainers: ofProject.some(usesContainers) };
}
