import { unavailable } from "./unavailable.ts";

const FIRST = 20_000;
const COUNT = 10_000;

/** A loopback port nobody listens on, outside the range the system hands out by itself, so that a restart finds it free. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const port = FIRST + Math.floor(Math.random() * COUNT);
    try {
      Bun.listen({ hostname: "127.0.0.1", port, exclusive: true, socket: { data() {} } }).stop(true);
      return port;
    } catch {
      // Taken: try another.
    }
  }
  throw unavailable("no_free_port", "Cannot start the embedded PostgreSQL: found no free port on 127.0.0.1");
}
