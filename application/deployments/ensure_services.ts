import type { DeployedService, Deployment } from "../../domain/deployment/deployment.ts";
import type { Compositions } from "../../ports/compositions.ts";
import type { Instance } from "../../ports/runtime.ts";
import { recordsOf } from "./engine/records_of.ts";
import { startService, type StartServicePorts } from "./engine/start_service.ts";

export interface EnsureServicesPorts extends StartServicePorts {
  readonly compositions: Compositions;
}

/** Starts again what is gone of a release that is to run, those first that others depend on; resolves to what runs of it. */
export async function ensureServices(ports: EnsureServicesPorts, deployment: Deployment): Promise<readonly Instance[]> {
  const found = new Map<string, Instance>();
  const missing = new Set<string>();
  const look = async ({ instanceId }: DeployedService) =>
    instanceId === null ? undefined : ports.runtime.find(instanceId);
  const instances = await Promise.all(deployment.services.map(look));
  for (const [index, { name, instanceId }] of deployment.services.entries()) {
    const instance = instances[index];
    if (instance) found.set(name, instance);
    else if (instanceId !== null) missing.add(name);
  }
  if (missing.size === 0) return [...found.values()];
  const records = await recordsOf(ports, deployment);
  const start = async (name: string): Promise<void> => {
    const record = records.find(({ spec }) => spec.name === name);
    const instanceId = deployment.services.find((service) => service.name === name)?.instanceId;
    // What ended by itself has done what it had to.
    if (!missing.delete(name) || !record || !instanceId || record.spec.oneShot) return;
    for (const { service } of record.spec.dependsOn) await start(service);
    const peers = record.spec.dependsOn.flatMap(({ service }) => found.get(service) ?? []);
    found.set(name, await startService(ports, { deployment, record, instanceId, peers }));
  };
  for (const { name } of deployment.services) await start(name);
  return [...found.values()];
}
