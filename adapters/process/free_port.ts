import { unavailable } from "./unavailable.ts";

const FIRST = 30_000;
const COUNT = 2_700;

/** A loopback port that nobody listens on and no instance has, outside the range the system hands out by itself: a restart finds it free. */
export function freePort(taken: ReadonlySet<number>): number {
  const start = Math.floor(Math.random() * COUNT);
  for (let offset = 0; offset < COUNT; offset++) {
    const port = FIRST + ((start + offset) % COUNT);
    if (!taken.has(port) && isFree(port)) return port;
  }
  throw unavailable("no_free_port", "Cannot start this: found no free port on 127.0.0.1; remove releases that run");
}

function isFree(port: number): boolean {
  try {
    Bun.listen({ hostname: "127.0.0.1", port, exclusive: true, socket: { data() {} } }).stop(true);
    return true;
  } catch {
    return false;
  }
}
