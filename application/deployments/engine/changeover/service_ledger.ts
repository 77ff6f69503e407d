import type { Deployment, DeployedService } from "../../../../domain/deployments/deployment.ts";
import type { NewEvent } from "../../../../domain/deployments/deployment_event.ts";
import { type Run, store } from "../run.ts";

/** Stores a change of a service, and emits its event. */
export async function publishService(run: Run, name: string, change: Partial<DeployedService>): Promise<void> {
  const event = serviceEvent({ ...entryOf(run.deployment, name), ...change });
  await store(run, (deployment) => withService(deployment, name, change), [event]);
}

/** Returns the deployment with a changed service. */
export function withService(deployment: Deployment, name: string, change: Partial<DeployedService>): Deployment {
  const changed = { ...entryOf(deployment, name), ...change };
  const others = deployment.services.some((service) => service.name === name)
    ? deployment.services.map((service) => (service.name === name ? changed : service))
    : [...deployment.services, changed];
  return { ...deployment, services: others };
}

/** The event that reports the status of a service. */
export function serviceEvent({ error, name, status }: DeployedService): NewEvent {
  return { type: "service", name, status, error };
}

/** A service before its build and start. */
export function pendingService(name: string, url: string | null): DeployedService {
  return { name, status: "pending", url, error: null, instanceId: null, site: null };
}

function entryOf({ services }: Deployment, name: string): DeployedService {
  return services.find((service) => service.name === name) ?? pendingService(name, null);
}
