import type { Deployment } from "./deployment.ts";

/** The scope of a release: its project, or the deployment itself for a preview. Services of one scope share names, volumes and routes. */
export function scopeOf({ environment, id, projectId }: Pick<Deployment, "environment" | "id" | "projectId">): string {
  return environment === "preview" ? id : projectId;
}
