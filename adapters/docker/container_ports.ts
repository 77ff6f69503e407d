import { Failure } from "../../domain/failure.ts";
import { HOST } from "./container_request.ts";
import type { PublishedPort } from "./labels.ts";

const FIRST = 23_000;
const COUNT = 4_000;

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
  const start = Math.floor(Math.random() * COUNT);
  for (let offset = 0; offset < COUNT; offset++) {
    const port = FIRST + ((start + offset) % COUNT);
    if (!tried.has(port) && isFree(port)) return port;
  }
  throw new Failure(
    "unavailable",
    "no_free_port",
    "Cannot start this: found no free port on 127.0.0.1; remove releases that run",
  );
}

function isFree(port: number): boolean {
  try {
    Bun.listen({ hostname: HOST, port, exclusive: true, socket: { data() {} } }).stop(true);
    return true;
  } catch {
    return false;
  }
}
