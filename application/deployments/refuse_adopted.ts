import { invalid } from "../../domain/failure.ts";
import type { Project } from "../../domain/projects/project.ts";
import type { Adoptions } from "../../ports/migration/adoptions.ts";

export interface RefuseAdoptedPorts {
  readonly adoptions: Adoptions;
}

/**
 * Refuses to deploy a project that was adopted from a server: its containers run, and deploying would start others beside
 * them that share their volumes.
 */
export function refuseAdopted({ adoptions }: RefuseAdoptedPorts) {
  return async function ({ id, location }: Project): Promise<void> {
    if (location !== "server" || (await adoptions.list(id)).length === 0) return;
    throw invalid(
      "project_adopted",
      "Cannot deploy this project yet: this version records what it adopted and leaves it running, but cannot take it over. Create a project of its own to deploy to that server",
    );
  };
}
