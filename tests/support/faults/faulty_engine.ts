import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DOCKER_HOST } from "../peers/docker_world.ts";

/** A request to an engine. */
export interface EngineQuestion {
  readonly method: string;
  /** Without the API version prefix. */
  readonly path: string;
  readonly body: string;
}

/** A proxy socket of the machine's container engine that answers some requests with an error instead. */
export interface FaultyEngine extends AsyncDisposable {
  readonly host: string;
}

/**
 * Opens a faulty engine. `refuse` returns the error message of a request, or undefined to forward it, after any delay.
 */
export async function faultyEngine(
  refuse: (question: EngineQuestion) => string | undefined | Promise<string | undefined>,
  { status = 500 } = {},
): Promise<FaultyEngine> {
  const folder = await mkdtemp(join(tmpdir(), "slipway-"));
  const socket = join(folder, "docker.sock");
  const server = Bun.serve({
    unix: socket,
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      const body = await request.text();
      const message = await refuse({ method: request.method, path: pathname.replace(/^\/v[\d.]+/, ""), body });
      if (message !== undefined) return Response.json({ message }, { status });
      return fetch(`http://docker${pathname}${search}`, {
        unix: DOCKER_HOST.slice("unix://".length),
        method: request.method,
        headers: { "content-type": "application/json" },
        ...(body !== "" && { body }),
        signal: request.signal,
      });
    },
  });
  return {
    host: `unix://${socket}`,
    async [Symbol.asyncDispose]() {
      await server.stop(true);
      await rm(folder, { recursive: true });
    },
  };
}
