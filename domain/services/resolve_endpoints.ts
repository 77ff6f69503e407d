import { endpointName, pathPrefixOf } from "../deployments/endpoint_name.ts";
import { type Failure, invalid, invalidField } from "../failure.ts";
import type { PublicEndpoint } from "./service_definition.ts";
import type { ServiceOrigin, ServiceSpec } from "./service_spec.ts";

/** A public endpoint with its service; a port of `null` is the one that the service turns out to listen on. */
export interface ResolvedEndpoint extends Omit<PublicEndpoint, "port" | "service"> {
  readonly service: string;
  readonly port: number | null;
}

/** The part of a service that decides whether it can be public. */
export interface Listening extends Pick<ServiceSpec, "name" | "ports" | "oneShot"> {
  readonly from: Pick<ServiceOrigin, "kind">;
}

/** Advice on how to make a service public. */
export const HOW_TO_BE_PUBLIC = "Give a service ports or expose, or name it in publicEndpoints";
/** The message for services none of which is public. */
export const NOTHING_PUBLIC = `No service of this is public, so it has no address. ${HOW_TO_BE_PUBLIC}`;

/** Names that suggest the main service, most likely first. */
const MAIN_NAMES = ["web", "frontend", "app", "site", "www", "api", "server"];

/**
 * Returns the service of each endpoint: the named one; else, for a port, the only one that listens on it; else the main
 * one. Without endpoints there is one for the main service, or none if nothing listens. Throws if an endpoint cannot be
 * resolved.
 */
export function resolveEndpoints(
  services: readonly Listening[],
  endpoints: readonly PublicEndpoint[],
): readonly ResolvedEndpoint[] {
  if (endpoints.length === 0) {
    const main = mainService(services);
    return main ? [{ service: main.name, port: main.ports[0] ?? null }] : [];
  }
  const places = endpoints.map((endpoint) => `${endpointName(endpoint)?.key ?? ""} ${pathPrefixOf(endpoint)}`);
  const repeated = places.findIndex((place, index) => places.indexOf(place) < index);
  if (repeated >= 0)
    throw invalidField(
      `publicEndpoints.${repeated}`,
      "another endpoint has the same host and path; change one of them",
    );
  return endpoints.map((endpoint, index) => {
    const { port: _port, service: _service, ...rest } = endpoint;
    const port = endpoint.port === undefined ? null : Number(endpoint.port);
    const service = serviceFor(services, { ...endpoint, port }, `publicEndpoints.${index}`);
    return { ...rest, service: service.name, port: port ?? service.ports[0] ?? null };
  });
}

function serviceFor(
  services: readonly Listening[],
  { service, port }: { readonly service?: string | undefined; readonly port: number | null },
  path: string,
): Listening {
  if (service !== undefined) {
    const named = services.find(({ name }) => name === service);
    if (!named) throw invalidField(`${path}.service`, "there is no service of this name");
    if (named.oneShot) throw invalidField(`${path}.service`, "this service ends by itself and cannot be public");
    return named;
  }
  if (port === null) {
    const main = mainService(services);
    if (!main) throw nothingListens("no service says that it listens on a port");
    return main;
  }
  const lasting = services.filter(({ oneShot }) => !oneShot);
  const listening = lasting.filter(({ ports }) => ports.includes(port));
  // A service built from the source may listen on any port without declaring it.
  const silent = lasting.filter(({ from, ports }) => from.kind !== "image" && ports.length === 0);
  const found = listening.length > 0 ? listening : silent;
  const [only, other] = found;
  if (!only) throw nothingListens(`no service says that it listens on port ${port}`);
  if (other) throw ambiguous(found, port);
  return only;
}

function ambiguous(found: readonly Listening[], port: number): Failure {
  const names = found.map(({ name }) => `"${name}"`).join(", ");
  return invalid(
    "endpoint_ambiguous",
    `Cannot tell which service port ${port} belongs to: it could be ${names}. Name one with "service" in the endpoint`,
  );
}

function nothingListens(why: string): Failure {
  return invalid(
    "endpoint_unresolved",
    `Cannot make the endpoint public: ${why}. Name the service with "service" in the endpoint, or add the port to it`,
  );
}

/**
 * Returns the main service: the only one that listens, else one with a typical name, else the only one built from the
 * source, else the first, preferably one that declares a port.
 */
function mainService(services: readonly Listening[]): Listening | undefined {
  const listening = services.filter(
    ({ from, oneShot, ports }) => !oneShot && (ports.length > 0 || from.kind === "app"),
  );
  if (listening.length <= 1) return listening[0];
  for (const name of MAIN_NAMES) {
    const named = listening.find((service) => service.name === name);
    if (named) return named;
  }
  // Databases come as images; routing visitors to one would be the worst guess.
  const built = listening.filter(({ from }) => from.kind !== "image");
  if (built.length === 1) return built[0];
  return listening.find(({ ports }) => ports.length > 0) ?? listening[0];
}
