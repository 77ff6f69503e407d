import { conflict, notFound } from "../../domain/failure.ts";
import type { Instance, InstanceUsage, OutputLine, RunRequest, Runtime } from "../../ports/runtime.ts";

/** What a program does in a `MemoryRuntime`. */
export type Behaviour =
  /** Listens on its port and answers every request. */
  | { readonly does: "answers"; readonly respond?: (request: Request) => Response | Promise<Response> }
  /** Runs, but never listens. */
  | { readonly does: "keeps_silent" }
  /** Ends at once, each time it is started. */
  | { readonly does: "ends"; readonly code: number }
  | { readonly does: "takes_all_memory" };

/** A behaviour with what the program prints at each start. */
export type Script = Behaviour & { readonly prints?: readonly string[] };

interface Running {
  readonly request: RunRequest;
  readonly port: number;
  readonly lines: OutputLine[];
  server: Bun.Server<undefined> | undefined;
  instance: Instance;
}

const HOST = "127.0.0.1";
const TRIES = 5;
let lastPid = 0;

/** Runs programs that exist as a script only; a command without one answers every request with 200. */
export class MemoryRuntime implements Runtime {
  /** What each command does; may be changed at any time, for later starts. */
  readonly scripts: Map<string, Script>;
  readonly #running = new Map<string, Running>();

  constructor(scripts: Readonly<Record<string, Script>> = {}) {
    this.scripts = new Map(Object.entries(scripts));
  }

  async start(request: RunRequest): Promise<Instance> {
    const { instanceId, deploymentId, projectId, service } = request;
    if (this.#running.has(instanceId)) {
      throw conflict("instance_exists", "Cannot start this: there is an instance of that id; remove it first");
    }
    const port = freePort();
    const instance: Instance = {
      instanceId,
      deploymentId,
      projectId,
      service,
      status: "starting",
      host: HOST,
      port,
      relayed: false,
      health: null,
      image: request.runs.kind === "image" ? request.runs.image : null,
      containerId: null,
      startedAt: new Date(),
      restarts: 0,
      exit: null,
    };
    const running: Running = { request, port, lines: [], server: undefined, instance };
    this.#running.set(instanceId, running);
    return this.#begin(running);
  }

  async find(instanceId: string): Promise<Instance | undefined> {
    return this.#running.get(instanceId)?.instance;
  }

  async list(): Promise<readonly Instance[]> {
    return Array.from(this.#running.values(), ({ instance }) => instance);
  }

  async remove(instanceId: string): Promise<void> {
    const running = this.#running.get(instanceId);
    this.#running.delete(instanceId);
    await running?.server?.stop(true);
  }

  async restart(instanceId: string): Promise<Instance> {
    const running = this.#running.get(instanceId);
    if (!running) throw notFound("instance");
    await running.server?.stop(true);
    running.server = undefined;
    running.instance = { ...running.instance, restarts: running.instance.restarts + 1 };
    return this.#begin(running);
  }

  async usage(instanceId: string): Promise<InstanceUsage | undefined> {
    const running = this.#running.get(instanceId);
    if (!running) return undefined;
    return {
      cpuPercent: 0,
      memoryBytes: running.instance.containerId === null ? 0 : 1_048_576,
      memoryLimitBytes: running.request.memoryBytes ?? null,
      networkRxBytes: null,
      networkTxBytes: null,
    };
  }

  async output(
    instanceId: string,
    { since, limit }: { readonly since: number; readonly limit: number },
  ): Promise<readonly OutputLine[]> {
    const lines = this.#running.get(instanceId)?.lines ?? [];
    return lines.slice(Math.max(0, since), Math.max(0, since) + limit);
  }

  #begin(running: Running): Instance {
    const { request, lines, port } = running;
    const script = this.scripts.get(request.runs.command ?? "") ?? { does: "answers" };
    const at = new Date();
    const up = { ...running.instance, startedAt: at, exit: null, containerId: `${++lastPid}` };
    const runs = script.does === "answers" || script.does === "keeps_silent" || request.oneShot ? 1 : TRIES;
    for (let run = 0; run < runs; run++) {
      for (const message of script.prints ?? []) lines.push({ seq: lines.length + 1, at, stream: "stdout", message });
    }
    if (script.does === "answers") {
      const respond = script.respond ?? (() => new Response("ok"));
      running.server = Bun.serve({ hostname: HOST, port, fetch: respond });
      running.server.unref();
      running.instance = { ...up, status: "running" };
    } else if (script.does === "keeps_silent") {
      running.instance = { ...up, status: "starting" };
    } else {
      const exit = ending(script, request.oneShot ?? false);
      const restarts = running.instance.restarts + runs - 1;
      running.instance = { ...up, status: "exited", containerId: null, restarts, exit };
    }
    return running.instance;
  }
}

function ending(
  script: Extract<Script, { does: "ends" | "takes_all_memory" }>,
  oneShot: boolean,
): NonNullable<Instance["exit"]> {
  if (script.does === "takes_all_memory") return { code: null, reason: "out_of_memory" };
  return { code: script.code, reason: oneShot ? "exited" : "crash_loop" };
}

function freePort(): number {
  const listener = Bun.listen({ hostname: HOST, port: 0, socket: { data() {} } });
  const { port } = listener;
  listener.stop(true);
  return port;
}
