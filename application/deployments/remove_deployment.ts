import { isRunning } from "../../domain/deployment/transitions.ts";
import { invalid, notFound } from "../../domain/failure.ts";
import type { Principal } from "../../domain/permission.ts";
import type { Edge } from "../../ports/edge.ts";
import type { KeptSources } from "../../ports/kept_sources.ts";
import type { LiveReleases } from "../../ports/live_releases.ts";
import type { Runtime } from "../../ports/runtime.ts";
import type { Volumes } from "../../ports/volumes.ts";
import { dropSource } from "./clean_sources.ts";
import { dropArtifact, type DropArtifactPorts } from "./drop_artifact.ts";
import { dropVolumes } from "./drop_volumes.ts";
import { routeKey } from "./engine/serve.ts";
import { findDeployment } from "./find_deployment.ts";
import { removeInstances } from "./remove_instances.ts";

export interface RemoveDeploymentPorts extends DropArtifactPorts {
  readonly edge: Edge;
  readonly keptSources: KeptSources;
  readonly liveReleases: LiveReleases;
  readonly runtime: Runtime;
  readonly volumes: Volumes;
}

/** Deletes a deployment that does not run; the live one is stopped, and its project then serves nothing. */
export function removeDeployment(ports: RemoveDeploymentPorts) {
  const { deployments, edge, liveReleases } = ports;
  const find = findDeployment(ports);
  return async function (by: Principal, id: string): Promise<void> {
    const deployment = await find(by, id, "deployment:admin");
    if (isRunning(deployment))
      throw invalid("deployment_running", "Cannot delete a deployment that runs: cancel it first");
    if (deployment.decision === "pending")
      throw invalid("decision_pending", "Cannot delete this deployment: keep or reject it first");
    const live = await liveReleases.find(deployment.projectId);
    if (live?.deployment.decision === "pending" && live.deployment.replaces === id) {
      const other = live.deployment.id;
      throw invalid(
        "decision_pending",
        `Cannot delete this deployment: ${other} may go back to it. Keep or reject that first`,
      );
    }
    const serves = live?.deployment.id === id || deployment.environment === "preview";
    if (!(await deployments.remove(by.organizationId, id))) throw notFound("deployment");
    if (serves) {
      await edge.switch(routeKey(deployment), []);
      await liveReleases.announce(routeKey(deployment));
    }
    // A killed server leaves the rest to the sweep.
    await removeInstances(ports, deployment);
    await dropVolumes(ports, deployment);
    await dropArtifact(ports, deployment);
    await dropSource(ports, deployment);
  };
}
