import { isRunning } from "../../domain/deployment/transitions.ts";
import { invalid, notFound } from "../../domain/failure.ts";
import type { Principal } from "../../domain/permission.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Deployments } from "../../ports/deployments.ts";
import type { Edge } from "../../ports/edge.ts";
import type { LiveReleases } from "../../ports/live_releases.ts";
import type { Projects } from "../../ports/projects.ts";
import type { ReleaseFolders } from "../../ports/release_folders.ts";
import type { Runtime } from "../../ports/runtime.ts";
import { needsArtifact } from "./clean_releases.ts";
import { routeKey } from "./engine/serve.ts";
import { findDeployment } from "./find_deployment.ts";

const GRACE_MS = 10_000;

export interface RemoveDeploymentPorts {
  readonly clock: Clock;
  readonly deployments: Deployments;
  readonly edge: Edge;
  readonly liveReleases: LiveReleases;
  readonly projects: Projects;
  readonly releaseFolders: ReleaseFolders;
  readonly runtime: Runtime;
}

/** Deletes a deployment that does not run; the live one is stopped, and its project then serves nothing. */
export function removeDeployment(ports: RemoveDeploymentPorts) {
  const { clock, deployments, edge, liveReleases, projects, releaseFolders, runtime } = ports;
  const find = findDeployment(ports);
  return async function (by: Principal, id: string): Promise<void> {
    const deployment = await find(by, id, "deployment:admin");
    if (isRunning(deployment))
      throw invalid("deployment_running", "Cannot delete a deployment that runs: cancel it first");
    if (deployment.decision === "pending")
      throw invalid("decision_pending", "Cannot delete this deployment: keep or reject it first");
    const live = await liveReleases.find(deployment.projectId);
    const serves = live?.deployment.id === id || deployment.environment === "preview";
    if (serves) await edge.switch(routeKey(deployment), []);
    if (live?.deployment.id === id) {
      await projects.change(by.organizationId, deployment.projectId, {
        at: clock.now(),
        change: () => ({ activeDeploymentId: null }),
      });
      await liveReleases.announce(deployment.projectId);
    }
    for (const { deploymentId, instanceId } of await runtime.list()) {
      if (deploymentId === id) await runtime.remove(instanceId, { graceMs: GRACE_MS });
    }
    if (!(await deployments.remove(by.organizationId, id))) throw notFound("deployment");
    const others = await deployments.ofProject(deployment.projectId);
    const artifact = deployment.artifactOf ?? id;
    if (!others.some((other) => needsArtifact(other, artifact))) await releaseFolders.remove(artifact);
  };
}
