import type { Deployment } from "../../../../domain/deployments/deployment.ts";
import { HOW_TO_BE_PUBLIC, NOTHING_PUBLIC } from "../../../../domain/services/resolve_endpoints.ts";
import { invalid } from "../../../../domain/failure.ts";
import type { ProjectType } from "../../../../domain/projects/project.ts";
import { type Run, logLine } from "../run.ts";

/** A run with the ports of this step. */
type StepRun = Run<"liveReleases">;

const KINDS: Readonly<Record<ProjectType, string>> = {
  app: "an app",
  static: "a static site",
  docker: "an image by its Dockerfile",
  services: "several services",
};

/**
 * Compares the detected project type with the live one. Several services never become another type unless the settings
 * say so, because a missing compose file would remove their addresses. Logs other changes.
 */
export async function compareKind(run: StepRun, found: ProjectType | null): Promise<void> {
  const live = await liveDeployment(run);
  const before = live?.plan.projectType;
  if (!before || !found || before === found) return;
  const { dockerfile, projectType, startCommand } = run.deployment.plan;
  const isChosen = projectType !== null || dockerfile !== null || startCommand !== null;
  if (before === "services" && !isChosen) {
    const names = live.services.map(({ name }) => name).join(", ");
    throw invalid(
      "kind_changed",
      `Cannot deploy this: the project is live as ${names}, and its source would now be ${KINDS[found]}. ` +
        `Bring its compose file back, or set projectType to "${found}" if that is intended`,
    );
  }
  logLine(run, "detect", `The project was ${KINDS[before]} so far, and is ${KINDS[found]} now`, "warn");
}

/** Rejects a deployment that would remove the last public address, unless `publicEndpoints: []` asks for it. */
export async function keepAddress(
  run: StepRun,
  publicEndpoints: readonly unknown[],
  { isAdopted = false }: { readonly isAdopted?: boolean } = {},
): Promise<void> {
  if (publicEndpoints.length > 0) return;
  const endpoints = run.deployment.own?.publicEndpoints ?? run.project.settings.publicEndpoints;
  const live = endpoints === undefined ? await liveDeployment(run) : undefined;
  if (live && hasAddress(live)) {
    throw invalid(
      "last_address",
      `Cannot deploy this: none of its services listens on a port, so the project would lose its address. ${HOW_TO_BE_PUBLIC}. ` +
        "If nothing is to be public any more, set publicEndpoints to []",
    );
  }
  if (isAdopted) logLine(run, "detect", "Its services keep their ports. An address here needs publicEndpoints");
  else logLine(run, "detect", NOTHING_PUBLIC, "warn");
}

async function liveDeployment({ deployment, ports }: StepRun): Promise<Deployment | undefined> {
  if (deployment.environment === "preview") return undefined;
  return (await ports.liveReleases.find(deployment.projectId))?.deployment;
}

/** A single-service project always has an address. */
function hasAddress({ plan }: Deployment): boolean {
  return plan.projectType !== "services" || plan.publicEndpoints.length > 0;
}
