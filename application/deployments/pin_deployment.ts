import type { Deployment } from "../../domain/deployments/deployment.ts";
import { isRunning } from "../../domain/deployments/transitions.ts";
import { invalid, notFound } from "../../domain/failure.ts";
import type { Principal } from "../../domain/identity/permission.ts";
import type { Deployments } from "../../ports/deployments/deployments.ts";
import { findDeployment } from "./find_deployment.ts";

/** Protects a deployment's files from cleanup, or lifts the protection. */
export function pinDeployment(ports: { readonly deployments: Deployments }) {
  const find = findDeployment(ports);
  return async function (by: Principal, id: string, pinned: boolean): Promise<Deployment> {
    await find(by, id, "deployment:write");
    const changed = await ports.deployments.change(id, (deployment) => {
      if (pinned) refuseWithoutArtifact(deployment);
      return { deployment: { ...deployment, pinned }, events: [] };
    });
    if (!changed) throw notFound("deployment");
    return changed;
  };
}

/** Rejects a finished deployment that has no files for a pin to keep. */
function refuseWithoutArtifact(deployment: Deployment): void {
  const { artifactAvailable, status } = deployment;
  if (artifactAvailable || isRunning(deployment)) return;
  if (status === "ready") {
    throw invalid(
      "artifact_gone",
      "Cannot pin this deployment: its files were cleaned up. Redeploy it, and pin the new deployment",
    );
  }
  throw invalid(
    "not_a_release",
    `Cannot pin this deployment: its status is "${status}", so nothing of it is kept. Pin one that serves or served`,
  );
}
