import { SOLE_SERVICE } from "../../domain/services/sole_service.ts";
import type { Deployment } from "../../domain/deployments/deployment.ts";
import { refuseUnknownService } from "../../domain/deployments/refuse_unknown_service.ts";
import type { Principal } from "../../domain/identity/permission.ts";
import type { DeploymentEvents } from "../../ports/deployments/deployment_events.ts";
import type { Deployments } from "../../ports/deployments/deployments.ts";
import { findDeployment } from "./find_deployment.ts";
import { lastLines } from "../services/last_lines.ts";
import { type LoggedLine, RuntimeOutput } from "../services/runtime_output.ts";
import type { ServiceLogPorts } from "../services/service_log.ts";

export interface ReadLogsPorts extends ServiceLogPorts {
  readonly deploymentEvents: DeploymentEvents;
  readonly deployments: Deployments;
}

export interface LogQuery {
  readonly since: number;
  readonly limit: number;
  /** The number of last lines to return, instead of the first `limit`. */
  readonly tail?: number | undefined;
  readonly service?: string | undefined;
  readonly kind: "build" | "runtime";
}

/** Reads a page of a deployment's log, also during the build. Rejects for a service that it does not have. */
export function readLogs(ports: ReadLogsPorts) {
  const find = findDeployment(ports);
  return async function (by: Principal, id: string, query: LogQuery): Promise<readonly LoggedLine[]> {
    const deployment = await find(by, id, "deployment:read");
    const { since, limit, tail, service, kind } = query;
    refuseUnknownService(deployment, service);
    if (kind === "build") {
      const only = { type: "log", ...(service && !isSole(deployment, service) && { service }) } as const;
      const wanted = { since, limit: tail ?? limit, newest: tail !== undefined, only };
      const events = await ports.deploymentEvents.read(id, wanted);
      return events.flatMap((event) => (event.type === "log" ? [event] : []));
    }
    const output = new RuntimeOutput(ports, service);
    const read = (part: Pick<LogQuery, "since" | "limit">) => output.read(deployment, part);
    return tail === undefined ? read({ since, limit }) : lastLines(read, { since, count: tail });
  };
}

/** Whether a deployment consists of this service alone, so that all build lines belong to it. */
function isSole({ services }: Deployment, service: string): boolean {
  return service === SOLE_SERVICE && services.every(({ name }) => name === SOLE_SERVICE);
}

const PAGE = 5_000;

/** Streams a deployment's log as text, page by page: all of it, the part after `since`, or the last lines. */
export function downloadLogs(ports: ReadLogsPorts) {
  const read = readLogs(ports);
  const find = findDeployment(ports);
  return async function (
    by: Principal,
    id: string,
    query: Pick<LogQuery, "kind" | "service" | "tail"> & { readonly since?: number },
  ): Promise<AsyncIterable<string>> {
    refuseUnknownService(await find(by, id, "deployment:read"), query.service);
    const begun = Date.now();
    return (async function* () {
      for (let { since = 0 } = query; ;) {
        const lines = await read(by, id, { ...query, since, limit: PAGE });
        if (lines.length === 0) return;
        since = lines.at(-1)!.seq;
        yield `${lines.map(asText).join("\n")}\n`;
        // A program may print continuously, and a download must end: stop at lines printed after it began.
        const isNews = query.kind === "runtime" && lines.at(-1)!.at.getTime() > begun;
        if (query.tail !== undefined || isNews) return;
      }
    })();
  };
}

/** With several services, each line is prefixed with its service. */
function asText({ message, service }: LoggedLine): string {
  return service === null || service === SOLE_SERVICE ? message : `${service} | ${message}`;
}
