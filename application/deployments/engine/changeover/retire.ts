import type { Deployment } from "../../../../domain/deployments/deployment.ts";
import { adoptedInstance } from "../../../../domain/deployments/instance_id.ts";
import type { Instance } from "../../../../ports/services/runtime.ts";
import { isInUse } from "../../../services/instance_in_use.ts";
import { instancesAt } from "../../../services/instances_at.ts";
import { cleanImages } from "../../cleanup/clean_images.ts";
import type { BackgroundPorts, Run } from "../run.ts";
import { STOP_GRACE_MS } from "./changeover.ts";

/** A run with the ports of this step. */
type RetireRun = Run<"runtime" | "serverEngines">;

const DRAIN_MS = 30_000;
/** How long the edges of other processes may take to follow. */
const FOLLOW_MS = 1_000;

/**
 * Removes former instances that are not part of this release, after the run has ended and their requests are drained.
 * Adopted containers are stopped at once: they have no visitors here, and no list that the sweep could find them in.
 */
export async function retire(run: RetireRun, live: Pick<Deployment, "services"> = run.deployment): Promise<void> {
  const { deployment } = run;
  if (deployment.environment === "preview") return;
  const needed = new Set(live.services.map(({ instanceId }) => instanceId));
  const replaced = deployment.replaces === null ? undefined : await run.ports.deployments.get(deployment.replaces);
  const former = (await instancesAt(run.ports, replaced ? [deployment, replaced] : [deployment])).filter(
    ({ projectId, instanceId }) => projectId === deployment.projectId && !needed.has(instanceId),
  );
  await stopAdopted(run, replaced, needed);
  const retired: Instance[] = [];
  for (const instance of former) if (!(await isOfPreview(run, instance.deploymentId))) retired.push(instance);
  if (retired.length > 0) run.backgroundTasks.push((ports) => removeRetired(ports, retired));
}

/**
 * Drains long responses and sockets in the background, while the whole former release stays up. If the server is
 * killed, the sweep removes the rest.
 */
async function removeRetired(ports: BackgroundPorts, retired: readonly Instance[]): Promise<void> {
  const { edge, runtime } = ports;
  await new Promise((resolve) => setTimeout(resolve, FOLLOW_MS));
  await Promise.all(retired.map(({ instanceId }) => edge.drained(instanceId, DRAIN_MS)));
  // A rollback may use one of them again by now.
  const removed = retired.map(async (instance) => {
    if (!(await isInUse(ports, instance))) await runtime.remove(instance.instanceId, { graceMs: STOP_GRACE_MS });
  });
  await Promise.all(removed);
  // Their images were in use until now.
  if (retired.some(({ image }) => image !== null)) await cleanImages(ports)();
}

/** Stops the adopted containers of a former release that this one no longer has, also for when their engine starts. */
async function stopAdopted(
  { deployment, ports }: RetireRun,
  replaced: Deployment | undefined,
  needed: ReadonlySet<string | null>,
): Promise<void> {
  for (const { instanceId, name } of replaced?.services ?? []) {
    const adopted = instanceId === null || needed.has(instanceId) ? undefined : adoptedInstance(instanceId);
    if (!adopted || deployment.services.some((service) => service.name === name)) continue;
    await ports.runtime.remove(instanceId!, { graceMs: STOP_GRACE_MS });
    await ports.serverEngines.of(adopted.serverId).adoptedContainers.rest(instanceId!);
  }
}

async function isOfPreview(run: Run, deploymentId: string): Promise<boolean> {
  return (await run.ports.deployments.get(deploymentId))?.environment === "preview";
}
