import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { type EdgeNote, PROTOCOL, removeNote, writeNote } from "./edge_note.ts";
import type { ThreadCommands } from "./edge_thread.ts";
import { EdgeThreads, type EdgeThreadsOptions } from "./edge_threads.ts";
import { aborted } from "../../shared/deadline.ts";
import { keptWhereStarting } from "../kept_where_starting.ts";

/** The commands that a server sends to an edge. */
export interface EdgeCommands extends Omit<ThreadCommands, "listenTls"> {
  /** With `ifAlone`, refused while a server is connected with `alive`. */
  readonly stop: ThreadCommands["stop"] & { readonly ifAlone: boolean };
  /** A long poll: a server that waits for its response notices when the edge exits. */
  readonly alive: Readonly<Record<string, never>>;
}

const IDLE_SECONDS = 120;
/** Duration of the `alive` long poll. */
export const ALIVE_MS = 20_000;

/**
 * Runs an edge that a server controls: writes its note file, serves by the received routes, and keeps serving by the
 * last ones when the server is gone. Resolves once it has carried out a stop command; rejects if a thread fails.
 */
export async function runEdge(file: string, options: EdgeThreadsOptions): Promise<void> {
  let note: EdgeNote | undefined;
  const onTls = () => note && writeNote(file, (note = { ...note, tlsPort: edge.tlsPort }));
  await using edge = await EdgeThreads.start({ ...options, onTls });
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
  note = {
    pid: process.pid,
    port: edge.port,
    tlsPort: edge.tlsPort,
    controlPort: control.port ?? 0,
    token,
    settings: options.settings,
    protocol: PROTOCOL,
  };
  writeNote(file, note);
  const { graceMs } = await Promise.race([stopRequested, edge.failed()]);
  // Without the note file no server finds this edge any more: the next server starts another.
  removeNote(file, { pid: process.pid });
  note = undefined;
  await edge.carryOut(["stop", { graceMs }]);
  await control.stop(true);
}

/** Handles a command, with the signal of its request; returning `false` refuses it. */
type Handlers = { readonly [C in keyof EdgeCommands]: (body: EdgeCommands[C], signal: AbortSignal) => unknown };

function handlersFor(edge: EdgeThreads, stop: (command: EdgeCommands["stop"]) => void): Handlers {
  let servers = 0;
  return {
    load: ({ routes, certificates }) =>
      edge.carryOut(["load", { routes: keptWhereStarting(edge.routes(), routes), certificates }]),
    present: (change) => edge.carryOut(["present", change]),
    switch: (change) => edge.carryOut(["switch", change]),
    drained: (release) => edge.carryOut(["drained", release]),
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

function knows(request: Request, token: string): boolean {
  const given = request.headers.get("authorization") ?? "";
  return timingSafeEqual(digest(given), digest(`Bearer ${token}`));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
