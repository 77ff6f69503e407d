import type { Deployment } from "./deployment.ts";

/**
 * Returns the scope of a release: its project, or the deployment itself for a preview. Services in a scope share names,
 * volumes and routes.
 */
export function scopeOf({ environment, id, projectId }: Pick<Deployment, "environment" | "id" | "projectId">): string {
  return environment === "preview" ? id : projectId;
}
