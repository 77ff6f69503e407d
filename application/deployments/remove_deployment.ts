import { scopeOf } from "../../domain/deployments/release_scope.ts";
import type { Deployment } from "../../domain/deployments/deployment.ts";
import { isRunning } from "../../domain/deployments/transitions.ts";
import { Failure, invalid, notFound } from "../../domain/failure.ts";
import type { Principal } from "../../domain/identity/permission.ts";
import type { KeptSources } from "../../ports/projects/kept_sources.ts";
import type { LiveReleases } from "../../ports/deployments/live_releases.ts";
import type { Runtime } from "../../ports/services/runtime.ts";
import { answerInTime, type AnswerInTimePorts } from "../system/answer_in_time.ts";
import { dropSource } from "./cleanup/clean_sources.ts";
import { dropArtifact, type DropArtifactPorts } from "./cleanup/drop_artifact.ts";
import { dropVolumes, type DropVolumesPorts } from "../services/drop_volumes.ts";
import { findDeployment } from "./find_deployment.ts";
import { removeInstances } from "../services/remove_instances.ts";
import { stopServing, type StopServingPorts } from "./stop_serving.ts";

export interface RemoveDeploymentPorts
  extends DropArtifactPorts, StopServingPorts, AnswerInTimePorts, DropVolumesPorts {
  readonly keptSources: KeptSources;
  readonly liveReleases: LiveReleases;
  readonly runtime: Runtime;
}

/**
 * Deletes a deployment that is not running; a live one is stopped, and its project then serves nothing. Resolves once
 * nothing of it runs any more. Rejects with an `unavailable` failure, code `removal_takes_long`, if that takes longer
 * than a response may.
 */
export function removeDeployment(ports: RemoveDeploymentPorts) {
  const { deployments, liveReleases } = ports;
  const inTime = answerInTime(ports);
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
    await inTime(dropAll(deployment, serves), takesLong);
  };

  /** If the server is killed, the sweep does the rest. */
  async function dropAll(deployment: Deployment, serves: boolean): Promise<void> {
    await Promise.all([stopServing(ports, serves ? [scopeOf(deployment)] : []), removeInstances(ports, deployment)]);
    await dropVolumes(ports, deployment);
    await dropArtifact(ports, deployment);
    await dropSource(ports, deployment);
  }
}

function takesLong(): Failure {
  const message =
    "Cannot confirm yet that the deployment has stopped: some services take long to stop. It is deleted, and the rest is stopped in the background";
  return new Failure("unavailable", "removal_takes_long", message, { retryAfter: 10 });
}
