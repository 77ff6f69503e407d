import type { Environment } from "../../domain/deployments/deployment.ts";
import { invalid } from "../../domain/failure.ts";
import type { Project } from "../../domain/projects/project.ts";
import type { AdoptedPorts } from "./adopted_services.ts";

interface Wanted {
  readonly environment?: Environment;
  readonly services?: readonly unknown[];
}

/**
 * Refuses what an adopted project cannot do: a preview would claim the ports and volumes of the containers that run, and
 * services given with a deployment would replace them without their settings.
 */
export function refuseAdopted({ adoptions }: AdoptedPorts) {
  return async function ({ id }: Project, { environment, services = [] }: Wanted): Promise<void> {
    if (environment !== "preview" && services.length === 0) return;
    if ((await adoptions.list(id)).length === 0) return;
    const [what, next] =
      environment === "preview"
        ? ["preview an adopted project", "its containers hold the ports and volumes. Deploy it to production"]
        : ["deploy other services to an adopted project", "change the services in the settings of the project instead"];
    throw invalid("project_adopted", `Cannot ${what}: ${next}`);
  };
}
