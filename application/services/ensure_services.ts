import { serverOf } from "../../domain/deployments/instance_id.ts";
import { scopeOf } from "../../domain/deployments/release_scope.ts";
import type { DeployedService, Deployment } from "../../domain/deployments/deployment.ts";
import { usesContainers } from "../../domain/deployments/instance_id.ts";
import { Failure } from "../../domain/failure.ts";
import type { ServiceRecord } from "../../domain/services/service_set.ts";
import type { ServiceSets } from "../../ports/deployments/service_sets.ts";
import type { Instance } from "../../ports/services/runtime.ts";
import { publicServices } from "../../domain/services/public_services.ts";
import { recordsOf } from "./records_of.ts";
import { startService, type StartServicePorts } from "./start_service.ts";

const GRACE_MS = 10_000;
const LOOK_AGAIN_MS = 500;

export interface EnsureServicesPorts extends StartServicePorts {
  readonly serviceSets: ServiceSets;
}

/** Returns whether a service may be started now. */
export type MayStart = (name: string) => Promise<boolean>;

/**
 * Starts the missing or stopped services of a release that should run, dependencies first; resolves to its running
 * instances. For a service without visitors it removes other versions first. A service that fails to start does not
 * block the others: the failure is thrown after all were tried.
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
    // A one-shot service that has exited is complete.
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
  // Prefers the outage over its consequences.
  if (failures.length > 0) throw failures.find(isUnavailable) ?? failures[0];
  return [...found.values()];
}

/**
 * Returns whether an instance exists but was stopped, as when the server was killed before starting it or after
 * stopping it.
 */
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
    // A concurrent caller started the same instance a moment earlier.
    const instance = await ports.runtime.find(instanceId).catch(() => undefined);
    if (!instance || isStopped(instance)) throw error;
    return instance;
  }
}

/**
 * Removes an instance that is stopped: it may lack files or names, and its data is in volumes. Looks twice, because it
 * may be in the middle of a restart.
 */
async function clearAway({ runtime }: EnsureServicesPorts, instanceId: string): Promise<void> {
  for (const waitMs of [LOOK_AGAIN_MS, 0]) {
    const left = await runtime.find(instanceId);
    if (!left || !isStopped(left)) return;
    await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
  await runtime.remove(instanceId, { graceMs: GRACE_MS });
}

/** Removes leftovers of an interrupted changeover, which would share a volume or a queue with the service. */
async function removeLeftovers({ deployments, runtime }: EnsureServicesPorts, missing: Missing): Promise<void> {
  const { deployment, record } = missing;
  const isImage = record.image !== null;
  // An interrupted changeover may have been one between processes and containers.
  const containers = isImage || (await deployments.ofProject(deployment.projectId)).some(usesContainers);
  const instances = await runtime.list({ all: isImage, containers, server: serverOf(missing.instanceId) });
  for (const { deploymentId, instanceId, projectId, service } of instances) {
    if (projectId !== deployment.projectId || service !== record.spec.name) continue;
    // A concurrent caller has started it already.
    if (instanceId === missing.instanceId) continue;
    const owner = deploymentId === deployment.id ? deployment : await deployments.get(deploymentId);
    const isOfScope = owner ? scopeOf(owner) === scopeOf(deployment) : deployment.environment !== "preview";
    if (isOfScope) await runtime.remove(instanceId, { graceMs: GRACE_MS });
  }
}

function isUnavailable(error: unknown): boolean {
  return error instanceof Failure && error.kind === "unavailable";
}
