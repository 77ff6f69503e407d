import { scopeOf } from "../../domain/deployments/release_scope.ts";
import type { DeployedService, Deployment } from "../../domain/deployments/deployment.ts";
import { usesContainers } from "../../domain/deployments/instance_id.ts";
import { Failure } from "../../domain/failure.ts";
import type { ServiceRecord } from "../../domain/services/service_set.ts";
import type { ServiceSets } from "../../ports/deployments/service_sets.ts";
import type { Instance } from "../../ports/services/runtime.ts";
import { publicServices } from "../deployments/engine/changeover/public_services.ts";
import { recordsOf } from "../deployments/engine/changeover/records_of.ts";
import { startService, type StartServicePorts } from "../deployments/engine/changeover/start_service.ts";

const GRACE_MS = 10_000;
const LOOK_AGAIN_MS = 500;

export interface EnsureServicesPorts extends StartServicePorts {
  readonly serviceSets: ServiceSets;
}

/** Tells whether a service may be started now. */
export type MayStart = (name: string) => Promise<boolean>;

/**
 * Starts again what is gone, or stopped, of a release that is to run, those first that others depend on; resolves to what runs of it. Where nobody visits a
 * service, another version of it goes first. One that cannot be started keeps no other from it: why is thrown once all were tried.
 */
export async function ensureServices(
  ports: EnsureServicesPorts,
  deployment: Deployment,
  mayStart: MayStart = () => Promise.resolve(true),
): Promise<readonly Instance[]> {
  const found = new Map<string, Instance>();
  const missing = new Map<string, string>();
  const look = async ({ instanceId }: DeployedService) => {
    const instance = instanceId === null ? undefined : await ports.runtime.find(instanceId);
    return instance && isStopped(instance) ? undefined : instance;
  };
  const instances = await Promise.all(deployment.services.map(look));
  for (const [index, { name, instanceId }] of deployment.services.entries()) {
    const instance = instances[index];
    if (instance) found.set(name, instance);
    else if (instanceId !== null) missing.set(name, instanceId);
  }
  if (missing.size === 0) return [...found.values()];
  const records = await recordsOf(ports, deployment);
  const failures: unknown[] = [];
  const start = async (name: string): Promise<void> => {
    const record = records.find(({ spec }) => spec.name === name);
    const instanceId = missing.get(name);
    missing.delete(name);
    // What ended by itself has done what it had to.
    if (!record || !instanceId || record.spec.oneShot || !(await mayStart(name))) return;
    for (const { service } of record.spec.dependsOn) await start(service);
    const peers = record.spec.dependsOn.flatMap(({ service }) => found.get(service) ?? []);
    try {
      found.set(name, await started(ports, { deployment, record, instanceId, peers }));
    } catch (error) {
      failures.push(error);
    }
  };
  for (const { name } of deployment.services) await start(name);
  // What only is away tells more than what it led to.
  if (failures.length > 0) throw failures.find(isUnavailable) ?? failures[0];
  return [...found.values()];
}

/** Whether it stands there and does not run, as a server leaves it that was killed before it had started it, or after it had stopped it. */
export function isStopped({ status, exit }: Instance): boolean {
  return status === "exited" && exit?.reason === "stopped";
}

interface Missing {
  readonly deployment: Deployment;
  readonly record: ServiceRecord;
  readonly instanceId: string;
  readonly peers: readonly Instance[];
}

async function started(ports: EnsureServicesPorts, missing: Missing): Promise<Instance> {
  const { deployment, instanceId, record } = missing;
  await clearAway(ports, instanceId);
  if (!publicServices(deployment).has(record.spec.name)) await removeLeftovers(ports, missing);
  try {
    return await startService(ports, missing);
  } catch (error) {
    // The same, a moment later.
    const instance = await ports.runtime.find(instanceId).catch(() => undefined);
    if (!instance || isStopped(instance)) throw error;
    return instance;
  }
}

/** Removes one that stands there stopped: it may lack files or names, and what it keeps is in volumes. Somebody may just be restarting it, so it is looked at twice. */
async function clearAway({ runtime }: EnsureServicesPorts, instanceId: string): Promise<void> {
  for (const waitMs of [LOOK_AGAIN_MS, 0]) {
    const left = await runtime.find(instanceId);
    if (!left || !isStopped(left)) return;
    await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
  await runtime.remove(instanceId, { graceMs: GRACE_MS });
}

/** What a changeover left that was broken off would share a volume with it, or work on the same queue. */
async function removeLeftovers({ deployments, runtime }: EnsureServicesPorts, missing: Missing): Promise<void> {
  const { deployment, record } = missing;
  const isImage = record.image !== null;
  // A changeover from processes to containers, or back, may have been broken off.
  const containers = isImage || (await deployments.ofProject(deployment.projectId)).some(usesContainers);
  const instances = await runtime.list({ all: isImage, containers });
  for (const { deploymentId, instanceId, projectId, service } of instances) {
    if (projectId !== deployment.projectId || service !== record.spec.name) continue;
    // Whoever else makes sure of it was quicker.
    if (instanceId === missing.instanceId) continue;
    const owner = deploymentId === deployment.id ? deployment : await deployments.get(deploymentId);
    const isOfScope = owner ? scopeOf(owner) === scopeOf(deployment) : deployment.environment !== "preview";
    if (isOfScope) await runtime.remove(instanceId, { graceMs: GRACE_MS });
  }
}

function isUnavailable(error: unknown): boolean {
  return error instanceof Failure && error.kind === "unavailable";
}
