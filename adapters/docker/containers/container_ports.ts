import { Failure } from "../../../domain/failure.ts";
import { freePort, PORT_RANGES } from "../../shared/free_port.ts";
import type { PublishedPort } from "./labels.ts";

/**
 * Loopback ports that nobody listens on, one for each port inside, none of those that were tried; they are noted there. They are chosen here, as one that
 * the engine chooses changes with every restart, and outside the range that the system hands out by itself, so that a restart finds them free.
 */
export function freeHostPorts(inside: readonly number[], tried: Set<number>): readonly PublishedPort[] {
  return inside.map((each) => {
    const port = freeHostPort(tried);
    tried.add(port);
    return { inside: each, port };
  });
}

function freeHostPort(tried: ReadonlySet<number>): number {
  const port = freePort(PORT_RANGES.container, { taken: tried });
  if (port !== undefined) return port;
  throw new Failure(
    "unavailable",
    "no_free_port",
    "Cannot start this: found no free port on 127.0.0.1; remove releases that run",
  );
}
