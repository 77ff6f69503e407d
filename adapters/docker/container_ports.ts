import { Failure } from "../../domain/failure.ts";
import { HOST } from "./container_request.ts";

const FIRST = 23_000;
const COUNT = 4_000;

/**
 * A loopback port that nobody listens on and that was not tried yet. It is chosen here, as one that the engine chooses changes with every restart,
 * and outside the range that the system hands out by itself, so that a restart finds it free.
 */
export function freeHostPort(tried: ReadonlySet<number>): number {
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
