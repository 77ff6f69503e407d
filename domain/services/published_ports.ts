import { invalid } from "../failure.ts";
import type { DeploymentPlan } from "../deployments/deployment.ts";
import type { ServiceRecord } from "./service_set.ts";
import { portNumber } from "../port_number.ts";
import { USUAL_PORT } from "./sole_service.ts";

/** Returns the service with exactly the ports that its public endpoints route to. */
export function published(record: ServiceRecord, endpoints: DeploymentPlan["publicEndpoints"]): ServiceRecord {
  const own = endpoints.filter(({ service }) => service === record.spec.name);
  const ports = own.flatMap(({ port }) => (port === undefined ? [] : [Number(port)]));
  return { ...record, spec: { ...record.spec, ports: [...new Set(ports)] } };
}

/**
 * Returns the internal port that traffic for a service goes to: the first that it declares, else its variable `PORT`,
 * else the detected one.
 */
export function listensOn({ spec }: ServiceRecord, port: number | null): number {
  const { from, environment, ports } = spec;
  const declared = portNumber(environment["PORT"]);
  // A third-party image may ignore `PORT`, so its detected port goes first.
  const supposed = from.kind === "image" ? (port ?? declared) : (declared ?? port);
  const known = ports[0] ?? supposed ?? (from.kind === "app" ? USUAL_PORT : undefined);
  if (known !== undefined) return known;
  throw invalid(
    "port_unknown",
    `Cannot route visitors to ${spec.name}: the port that it listens on is not known. Set the port of its public endpoint`,
  );
}
