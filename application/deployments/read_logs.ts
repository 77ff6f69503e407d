import { SOLE_SERVICE } from "../../domain/composition/sole_service.ts";
import type { DeployedService, Deployment } from "../../domain/deployment/deployment.ts";
import type { DeploymentEvent } from "../../domain/deployment/deployment_event.ts";
import { secretMask } from "../../domain/deployment/secret_mask.ts";
import { secretValues } from "../../domain/deployment/secret_values.ts";
import type { Principal } from "../../domain/permission.ts";
import type { Secret } from "../../domain/secret.ts";
import type { DeploymentEvents } from "../../ports/deployment_events.ts";
import type { Deployments } from "../../ports/deployments.ts";
import type { Runtime } from "../../ports/runtime.ts";
import { publicServices } from "./engine/public_services.ts";
import { findDeployment } from "./find_deployment.ts";

export interface ReadLogsPorts {
  readonly deploymentEvents: DeploymentEvents;
  readonly deployments: Deployments;
  readonly runtime: Runtime;
}

/** A line as the log shows it; runtime output has numbers of its own. */
export type LoggedLine = Omit<Extract<DeploymentEvent, { type: "log" }>, "type">;

export interface LogQuery {
  readonly since: number;
  readonly limit: number;
  readonly service?: string | undefined;
  readonly kind: "build" | "runtime";
}

/** Reads a part of a deployment's log, while it is built too. */
export function readLogs(ports: ReadLogsPorts) {
  const find = findDeployment(ports);
  return async function (by: Principal, id: string, query: LogQuery): Promise<readonly LoggedLine[]> {
    const deployment = await find(by, id, "deployment:read");
    const { since, limit, service, kind } = query;
    if (kind === "build") {
      const events = await ports.deploymentEvents.read(id, {
        since,
        limit,
        only: { type: "log", ...(service && { service }) },
      });
      return events.flatMap((event) => (event.type === "log" ? [event] : []));
    }
    const running = shownService(deployment, service);
    if (!running?.instanceId) return [];
    const lines = await ports.runtime.output(running.instanceId, { since, limit });
    const mask = secretMask(await secretsOf(deployment, running.instanceId));
    return lines.map((line) => ({
      ...line,
      message: mask(line.message),
      level: "info",
      step: null,
      service: running.name,
    }));
  };

  /** What runs may have been left as it was by several deployments: it knows the secrets of the one that started it. */
  async function secretsOf(deployment: Deployment, instanceId: string): Promise<readonly Secret[]> {
    const own = secretValues(deployment, await ports.deployments.environment(deployment.id));
    const startedBy = (await ports.runtime.find(instanceId))?.deploymentId;
    const starter =
      startedBy === undefined || startedBy === deployment.id ? undefined : await ports.deployments.get(startedBy);
    if (!starter) return own;
    return [...own, ...secretValues(starter, await ports.deployments.environment(starter.id))];
  }
}

/** The service that is asked for; without a name the one that visitors get to, as the numbers of lines are each service's own. */
function shownService(deployment: Deployment, name: string | undefined): DeployedService | undefined {
  const running = deployment.services.filter(({ instanceId }) => instanceId !== null);
  if (name) return running.find((service) => service.name === name);
  const visited = Array.from(publicServices(deployment), (each) => running.find((service) => service.name === each));
  return visited.find((service) => service !== undefined) ?? running[0];
}

const PAGE = 5_000;

/** Yields a deployment's whole log as text, page by page. */
export function downloadLogs(ports: ReadLogsPorts) {
  const read = readLogs(ports);
  const find = findDeployment(ports);
  return async function (
    by: Principal,
    id: string,
    query: Pick<LogQuery, "kind" | "service">,
  ): Promise<AsyncIterable<string>> {
    await find(by, id, "deployment:read");
    return (async function* () {
      for (let since = 0; ;) {
        const lines = await read(by, id, { ...query, since, limit: PAGE });
        if (lines.length === 0) return;
        since = lines.at(-1)!.seq;
        yield `${lines.map(asText).join("\n")}\n`;
      }
    })();
  };
}

/** Of several services each line says whose it is. */
function asText({ message, service }: LoggedLine): string {
  return service === null || service === SOLE_SERVICE ? message : `${service} | ${message}`;
}
