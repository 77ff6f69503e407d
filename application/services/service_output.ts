import type { DeployedService, Deployment } from "../../domain/deployments/deployment.ts";
import { deploymentOfInstance } from "../../domain/deployments/instance_id.ts";
import type { LogOwner } from "../../ports/services/runtime_logs.ts";
import { interleavedOutput, type ServiceLine } from "./interleaved_output.ts";
import { inSuccession, ServiceLog, type ServiceLogPorts } from "./service_log.ts";

interface Wanted {
  readonly since: number;
  readonly limit: number;
}

/** The logs that a deployment shows for a service: its own, and one of a carried-over or restored former version. */
interface ServiceLogs {
  readonly service: string;
  readonly own: ServiceLog;
  readonly former: ServiceLog | null;
}

/**
 * Reads the output of a deployment's services, whether they still run or not: a single service with its own numbers,
 * several services merged.
 */
export async function serviceOutput(
  ports: ServiceLogPorts,
  { id, services }: { readonly id: Deployment["id"]; readonly services: readonly DeployedService[] },
  wanted: Wanted,
): Promise<readonly ServiceLine[]> {
  const logs = await logsOf(ports, id, services);
  const [only, ...others] = logs;
  if (others.length > 0) return interleavedOutput(logs.flatMap(sourcesOf), wanted);
  if (!only) return [];
  const { former, own, service } = only;
  const lines = former
    ? await inSuccession(
        { read: (query) => own.read(query), last: own.recorded },
        (query) => former.read(query),
        wanted,
      )
    : await own.read(wanted);
  return lines.map((line) => ({ ...line, service }));
}

/** Two sources per service, so that numbers stay the same when a former version is restored. */
function sourcesOf({ former, own, service }: ServiceLogs) {
  return [own, former].map((log) => ({ service, read: log && log.read.bind(log) }));
}

async function logsOf(
  ports: ServiceLogPorts,
  deploymentId: string,
  services: readonly DeployedService[],
): Promise<readonly ServiceLogs[]> {
  const found = services.map((service) => ({ service: service.name, ...instanceOf(deploymentId, service) }));
  const owners = found.flatMap(({ service, starter }) =>
    [deploymentId, starter].map((owner) => ({ deploymentId: owner, service })),
  );
  const states = await ports.runtimeLogs.states(owners);
  const log = (owner: LogOwner, instanceId: string | null) => {
    const state = states.find(
      ({ deploymentId: id, service }) => id === owner.deploymentId && service === owner.service,
    );
    return new ServiceLog(ports, { owner, instanceId, state });
  };
  return found.map(({ instanceId, service, starter }) => {
    const isOwn = starter === deploymentId;
    const own = log({ deploymentId, service }, isOwn ? instanceId : null);
    return { service, own, former: isOwn ? null : log({ deploymentId: starter, service }, instanceId) };
  });
}

/** The current instance of a service, or the one being stopped, and the deployment that started it. */
function instanceOf(deploymentId: string, { instanceId, lastInstanceId }: DeployedService) {
  if (instanceId !== null) return { instanceId, starter: deploymentOfInstance(instanceId) };
  // A carried-over instance of a former deployment that is gone no longer belongs to this deployment's log.
  const isOwn = lastInstanceId !== undefined && deploymentOfInstance(lastInstanceId) === deploymentId;
  return { instanceId: isOwn ? lastInstanceId : null, starter: deploymentId };
}
