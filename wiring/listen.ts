import type { Gate } from "../http/gate.ts";
import { type LingeringBody, lingeringBody } from "../http/lingering_body.ts";
import { problem } from "../http/problems.ts";

/** The address to listen on. */
export interface ListenOptions {
  readonly host: string;
  readonly port: number;
}

/** A listening server. It responds 503 until `serve` sets its handler. */
export interface Listener {
  readonly port: number;
  serve(handle: Gate): void;
  /**
   * Stops accepting connections, drains requests in flight for `graceMs`, then closes every connection and waits
   * briefly for the cleanup of the requests that this aborted.
   */
  stop(graceMs: number): Promise<void>;
}

const IDLE_SECONDS = 60;
const TIDY_MS = 3_000;

/** Binds the address at once, so that a second server on it fails before it touches any data. */
export function listen({ host, port }: ListenOptions): Listener {
  let handle: Gate = starting;
  let running = 0;
  let idle: (() => void) | undefined;
  const server = Bun.serve({
    hostname: host,
    port,
    idleTimeout: IDLE_SECONDS,
    // Routes limit the bodies they read, with a response that names the limit. Bun does not buffer an unread body.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    fetch(request, bun) {
      const peer = bun.requestIP(request)?.address ?? "unknown";
      const lingering = lingeringBody(request);
      const response = handle(lingering?.request ?? request, peer);
      // Most probes are answered at once: a promise would cost them as much as their answer.
      return response instanceof Promise || lingering ? waitedFor(response, lingering) : response;
    },
    error: () => problem(500, { error: "Cannot complete the request", code: "internal" }),
  });
  return {
    port: server.port ?? port,
    serve(gate) {
      handle = gate;
    },
    async stop(graceMs) {
      void server.stop();
      await drained(graceMs);
      await server.stop(true);
      await drained(TIDY_MS);
    },
  };

  async function waitedFor(response: Response | Promise<Response>, lingering?: LingeringBody): Promise<Response> {
    running++;
    try {
      const sent = await response;
      await lingering?.drain();
      return sent;
    } finally {
      running--;
      if (running === 0) idle?.();
    }
  }

  async function drained(limitMs: number): Promise<void> {
    if (running === 0) return;
    const over = new Promise<void>((resolve) => (idle = resolve));
    await Promise.race([over, Bun.sleep(limitMs)]);
  }
}

function starting(): Response {
  const body = { error: "Cannot answer yet: the server is starting", code: "starting" };
  return problem(503, body, { "retry-after": "1" });
}
