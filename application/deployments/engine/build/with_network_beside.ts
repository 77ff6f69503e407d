import { scopeOf } from "../../../../domain/deployments/release_scope.ts";
import type { Run } from "../run.ts";

/** A run with the ports of this step. */
type StepRun = Run<"serviceNetworks">;

/**
 * Runs a build while the network that its containers will need is made. A failure to make it is left to the start of
 * the services, which makes what is missing.
 */
export async function withNetworkBeside<T>(run: StepRun, build: () => Promise<T>): Promise<T> {
  const { plan } = run.deployment;
  if (plan.runtime !== "docker" || plan.projectType === "static") return build();
  const prepared = run.ports.serviceNetworks.prepare(scopeOf(run.deployment)).catch(() => {});
  try {
    return await build();
  } finally {
    // Undoing a failed build removes the network again, so nothing may make it later.
    await prepared;
  }
}
