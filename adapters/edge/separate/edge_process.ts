import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { EdgeRoute } from "../../../ports/domains/edge.ts";
import type { Log } from "../../../ports/system/log.ts";
import { EdgeServer } from "../edge_server.ts";
import { type EdgeNote, type EdgeProcessSettings, PROTOCOL, removeNote, writeNote } from "./edge_note.ts";
import { aborted } from "../../shared/deadline.ts";

/** The commands that a server sends to an edge. */
export interface EdgeCommands {
  readonly load: { readonly routes: readonly EdgeRoute[] };
  readonly switch: { readonly owner: string; readonly routes: readonly EdgeRoute[] };
  readonly drained: { readonly servedBy: string; readonly limitMs: number };
  /** With `ifAlone`, refused while a server is connected with `alive`. */
  readonly stop: { readonly graceMs: number; readonly ifAlone: boolean };
  /** A long poll: a server that waits for its response notices when the edge exits. */
  readonly alive: Readonly<Record<string, never>>;
}

const IDLE_SECONDS = 120;
/** Duration of the `alive` long poll. */
export const ALIVE_MS = 20_000;

/**
 * Runs an edge that a server controls: writes its note file, serves by the received routes, and keeps serving by the
 * last ones when the server is gone. Resolves once it has carried out a stop command.
 */
export async function runEdge(file: string, settings: EdgeProcessSettings, log?: Log): Promise<void> {
  const edge = new EdgeServer({ trustedProxies: settings.trustedProxies, ...(log && { log }) });
  edge.listen(settings);
  const token = randomBytes(32).toString("base64url");
  const { promise: stopRequested, resolve: stop } = Promise.withResolvers<EdgeCommands["stop"]>();
  const handlers = handlersFor(edge, stop);
  const control = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: IDLE_SECONDS,
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    fetch: async (request) => {
      if (!knows(request, token)) return new Response(null, { status: 401 });
      const handle = handlers[new URL(request.url).pathname.slice(1) as keyof EdgeCommands];
      if (!handle) return new Response(null, { status: 404 });
      const isDone = (await handle((await request.json()) as never, request.signal)) !== false;
      return new Response(null, { status: isDone ? 204 : 409 });
    },
  });
  const note: EdgeNote = {
    pid: process.pid,
    port: edge.port,
    controlPort: control.port ?? 0,
    token,
    settings,
    protocol: PROTOCOL,
  };
  writeNote(file, note);
  const { graceMs } = await stopRequested;
  // Without the note file no server finds this edge any more: the next server starts another.
  removeNote(file, note);
  await edge.stop(graceMs);
  await control.stop(true);
}

/** Handles a command, with the signal of its request; returning `false` refuses it. */
type Handlers = { readonly [C in keyof EdgeCommands]: (body: EdgeCommands[C], signal: AbortSignal) => unknown };

function handlersFor(edge: EdgeServer, stop: (command: EdgeCommands["stop"]) => void): Handlers {
  let servers = 0;
  return {
    load: ({ routes }) => edge.load(keptWhereStarting(edge, routes)),
    switch: ({ owner, routes }) => edge.switch(owner, routes),
    drained: ({ servedBy, limitMs }) => edge.drained(servedBy, limitMs),
    stop(command) {
      if (command.ifAlone && servers > 0) return false;
      // Stops only after the response was sent.
      setTimeout(() => stop(command), 0);
      return true;
    },
    async alive(_, signal) {
      servers++;
      await Promise.race([Bun.sleep(ALIVE_MS), aborted(signal)]).finally(() => servers--);
    },
  };
}

/**
 * A starting server may not know yet what still runs: until then, routes in state `starting` keep their former target.
 */
function keptWhereStarting(edge: EdgeServer, routes: readonly EdgeRoute[]): readonly EdgeRoute[] {
  const known = new Map(edge.routes().map((route) => [placeOf(route), route]));
  return routes.map((route) => (route.target.kind === "starting" ? (known.get(placeOf(route)) ?? route) : route));
}

function placeOf({ hostname, pathPrefix, projectId }: EdgeRoute): string {
  return JSON.stringify([hostname, pathPrefix, projectId]);
}

function knows(request: Request, token: string): boolean {
  const given = request.headers.get("authorization") ?? "";
  return timingSafeEqual(digest(given), digest(`Bearer ${token}`));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
