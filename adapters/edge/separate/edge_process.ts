import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { EdgeRoute } from "../../../ports/domains/edge.ts";
import type { Log } from "../../../ports/system/log.ts";
import { EdgeServer } from "../edge_server.ts";
import { type EdgeNote, type EdgeProcessSettings, PROTOCOL, removeNote, writeNote } from "./edge_note.ts";

/** What a server asks of an edge. */
export interface EdgeCommands {
  readonly load: { readonly routes: readonly EdgeRoute[] };
  readonly switch: { readonly owner: string; readonly routes: readonly EdgeRoute[] };
  readonly drained: { readonly servedBy: string; readonly limitMs: number };
  /** With `ifAlone`, refused while a server waits for it to end. */
  readonly stop: { readonly graceMs: number; readonly ifAlone: boolean };
  /** Answered after a while: whoever waits for that notices when it ends. */
  readonly alive: Readonly<Record<string, never>>;
}

const IDLE_SECONDS = 120;
/** How long a server waits for an answer that tells it nothing. */
export const ALIVE_MS = 20_000;

/** Serves apps by what a server says, notes in a file how it is reached, and goes on by the last it said when that is gone; resolves once it was asked to stop and has. */
export async function runEdge(file: string, settings: EdgeProcessSettings, log?: Log): Promise<void> {
  const edge = new EdgeServer({ trustedProxies: settings.trustedProxies, ...(log && { log }) });
  edge.listen(settings);
  const token = randomBytes(32).toString("base64url");
  const { promise: asked, resolve: stop } = Promise.withResolvers<EdgeCommands["stop"]>();
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
  const { graceMs } = await asked;
  // From now on nobody finds it: a server that comes next starts another.
  removeNote(file, note);
  await edge.stop(graceMs);
  await control.stop(true);
}

/** A command with the signal of its request; `false` refuses it. */
type Handlers = { readonly [C in keyof EdgeCommands]: (body: EdgeCommands[C], signal: AbortSignal) => unknown };

function handlersFor(edge: EdgeServer, stop: (command: EdgeCommands["stop"]) => void): Handlers {
  let servers = 0;
  return {
    load: ({ routes }) => edge.load(keptWhereStarting(edge, routes)),
    switch: ({ owner, routes }) => edge.switch(owner, routes),
    drained: ({ servedBy, limitMs }) => edge.drained(servedBy, limitMs),
    stop(command) {
      if (command.ifAlone && servers > 0) return false;
      // Whoever asks gets an answer first.
      setTimeout(() => stop(command), 0);
      return true;
    },
    async alive(_, signal) {
      servers++;
      await Promise.race([Bun.sleep(ALIVE_MS), aborted(signal)]).finally(() => servers--);
    },
  };
}

/** A server that starts may not know yet what still runs: until it does, visitors get to where they got before. */
function keptWhereStarting(edge: EdgeServer, routes: readonly EdgeRoute[]): readonly EdgeRoute[] {
  const known = new Map(edge.routes().map((route) => [placeOf(route), route]));
  return routes.map((route) => (route.target.kind === "starting" ? (known.get(placeOf(route)) ?? route) : route));
}

function placeOf({ hostname, pathPrefix, projectId }: EdgeRoute): string {
  return JSON.stringify([hostname, pathPrefix, projectId]);
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

function knows(request: Request, token: string): boolean {
  const given = request.headers.get("authorization") ?? "";
  return timingSafeEqual(digest(given), digest(`Bearer ${token}`));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
