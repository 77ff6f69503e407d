import { adoptedInstance } from "../../../../domain/deployments/instance_id.ts";
import { type Failure, invalid } from "../../../../domain/failure.ts";
import { foundRecord } from "../../../../domain/migration/adopted_spec.ts";
import type { AdoptedService } from "../../../../domain/migration/adoption.ts";
import type { ServiceRecord } from "../../../../domain/services/service_set.ts";
import { recordsOf } from "../../../services/records_of.ts";
import { startService } from "../../../services/start_service.ts";
import { adoptedInstanceOf } from "../../adopted_services.ts";
import { logLine, type Run } from "../run.ts";
import { STOP_GRACE_MS } from "./changeover.ts";
import type { RunningService } from "./changeover_plan.ts";
import { pendingService } from "./service_ledger.ts";

/** A run with the ports of this step. */
type StepRun = Run<"adoptions" | "releaseFolders" | "runtime" | "serviceSets">;

interface AdoptedPart {
  readonly adopted: AdoptedService;
  /** The service as its container was found. */
  readonly record: ServiceRecord;
  readonly instanceId: string;
}

/**
 * Returns the adopted containers that the first deployment of a project takes over, as its former release. Those of
 * services that the project no longer has are left alone.
 */
export async function adoptedRelease(run: StepRun): Promise<readonly RunningService[]> {
  const { deployment, ports } = run;
  const found = (await adoptedParts(run)).map(async ({ adopted, instanceId, record }): Promise<RunningService> => {
    const instance = await ports.runtime.find(instanceId);
    if (!instance) throw containerGone(adopted);
    const service = { ...pendingService(record.spec.name, null), instanceId };
    const runs = instance.status !== "exited" && !instance.failing;
    return { record, service, deployment, runs, isPublic: false };
  });
  return Promise.all(found);
}

/** Another container may run in its place, on the same volumes. */
function containerGone({ containerName, service }: AdoptedService): Failure {
  return invalid(
    "container_gone",
    `Cannot take ${service} over: its container ${containerName} is gone from the server. If it was created anew, delete this project and adopt that one; otherwise remove the service from the project`,
  );
}

/** Starts the adopted containers again that an unfinished first deployment has stopped. */
export async function restoreAdopted(run: StepRun): Promise<void> {
  const { deployment, ports } = run;
  // The start step is stored before anything is stopped.
  if (!deployment.steps.some(({ name }) => name === "start")) return;
  for (const { adopted, instanceId, record } of await adoptedParts(run)) {
    const instance = await ports.runtime.find(instanceId);
    if (instance?.status !== "exited" || !adopted.running) continue;
    await startService(ports, { deployment, record, instanceId, peers: [] });
    logLine(run, null, `${adopted.service} runs again as it was adopted`);
  }
}

/** Takes a first deployment back: the adopted containers that it has replaced run again in place of its own. */
export async function bringBackAdopted(run: StepRun): Promise<void> {
  const { deployment, ports } = run;
  const services = new Set((await adoptedParts(run)).map(({ adopted }) => adopted.service));
  if (services.size === 0) return;
  const listed = await ports.runtime.list({ all: true, server: deployment.plan.serverId ?? null });
  const own = listed.filter(({ deploymentId, service }) => deploymentId === deployment.id && services.has(service));
  for (const { instanceId } of own) await ports.runtime.remove(instanceId, { graceMs: STOP_GRACE_MS });
  await restoreAdopted(run);
}

/** Makes the adopted containers that this release has replaced stay stopped. */
export async function restReplaced(run: Run<"adoptions" | "serverEngines">): Promise<void> {
  const { deployment, ports } = run;
  if (deployment.plan.serverId === undefined) return;
  const kept = new Set(deployment.services.map(({ instanceId }) => instanceId));
  for (const adopted of await ports.adoptions.list(deployment.projectId)) {
    const instanceId = adoptedInstanceOf(deployment, adopted);
    const isKept = [...kept].some((id) => id !== null && adoptedInstance(id)?.service === adopted.service);
    const isOurs = deployment.services.some(({ name }) => name === adopted.service);
    if (isOurs && !isKept) await ports.serverEngines.of(adopted.serverId).adoptedContainers.rest(instanceId);
  }
}

async function adoptedParts(run: StepRun): Promise<readonly AdoptedPart[]> {
  const { deployment, ports } = run;
  if (deployment.environment === "preview" || deployment.plan.serverId === undefined) return [];
  const wanted = await recordsOf(ports, deployment);
  return (await ports.adoptions.list(deployment.projectId)).flatMap((adopted) => {
    const service = wanted.find(({ spec }) => spec.name === adopted.service);
    if (!service) return [];
    const record = foundRecord(service.spec, adopted);
    return [{ adopted, record, instanceId: adoptedInstanceOf(deployment, adopted) }];
  });
}
