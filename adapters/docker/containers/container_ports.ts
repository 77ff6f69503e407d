import { Failure } from "../../../domain/failure.ts";
import { freePort, type FreePortOptions, PORT_RANGES } from "../../shared/free_port.ts";
import type { PublishedPort } from "./labels.ts";

/**
 * Returns a free loopback port for each port inside, none of those already tried, and adds them to `tried`. They are
 * chosen here because a port that the engine chooses changes with every restart, and outside the system's ephemeral
 * range so that they are still free at a restart.
 */
export function freeHostPorts(
  inside: readonly number[],
  tried: Set<number>,
  options: Pick<FreePortOptions, "isFree"> = {},
): readonly PublishedPort[] {
  return inside.map((each) => {
    const port = freeHostPort(tried, options);
    tried.add(port);
    return { inside: each, port };
  });
}

function freeHostPort(tried: ReadonlySet<number>, options: Pick<FreePortOptions, "isFree">): number {
  const port = freePort(PORT_RANGES.container, { taken: tried, ...options });
  if (port !== undefined) return port;
  throw new Failure(
    "unavailable",
    "no_free_port",
    "Cannot start this: found no free port on 127.0.0.1; remove releases that run",
  );
}
