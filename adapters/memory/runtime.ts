import { CRASH_LOOP } from "../../domain/deployments/crash_loop.ts";
import { adoptedInstance, serverOf } from "../../domain/deployments/instance_id.ts";
import { endingNote } from "../../domain/deployments/ending.ts";
import { conflict, notFound } from "../../domain/failure.ts";
import type { ListeningSocket } from "../../domain/deployments/unreachable.ts";
import type { AdoptedContainers } from "../../ports/services/adopted_containers.ts";
import type { InstanceEndings } from "../../ports/services/instance_endings.ts";
import type { InstanceSockets } from "../../ports/services/instance_sockets.ts";
import type {
  Instance,
  InstanceListOptions,
  InstanceUsage,
  OutputLine,
  OutputQuery,
  RemovalOptions,
  RunRequest,
  Runtime,
} from "../../ports/services/runtime.ts";
import { EndingHandlers } from "../shared/ending_handlers.ts";
import {
  ending,
  type Ending,
  HOST,
  NOT_WAITING,
  print,
  type Running,
  shown,
  stillInstance,
} from "./running_program.ts";
import { type Script, scriptOf } from "./script.ts";
import { MemoryVolumes } from "./volumes.ts";

const PAUSE_MS = 60_000;
let lastPid = 0;
let lastFound = 0;

/** A container that somebody runs on the engine, without Slipway. */
export interface OutsideContainer {
  readonly id: string;
  readonly image: string;
  readonly isUp: boolean;
}

/** Runs simulated programs. One without a script responds to every request with 200. */
export class MemoryRuntime implements Runtime, AdoptedContainers, InstanceEndings, InstanceSockets {
  /** Scripts by `service:<name>`, command or image (see `scriptOf`). May be changed at any time, for later starts. */
  readonly scripts: Map<string, Script>;
  /** Every start request so far, in order. */
  readonly started: RunRequest[] = [];
  readonly volumes: MemoryVolumes;
  /** The beginnings of the ids of adopted containers that stay stopped, also after a restart of the engine. */
  readonly resting = new Set<string>();
  readonly #running = new Map<string, Running>();
  /** Containers that were not started here, by id. */
  readonly #outside = new Map<string, Running>();
  readonly #endings = new EndingHandlers();

  constructor(scripts: Readonly<Record<string, Script>> = {}, volumes: MemoryVolumes = new MemoryVolumes()) {
    this.scripts = new Map(Object.entries(scripts));
    this.volumes = volumes;
  }

  async start(request: RunRequest): Promise<Instance> {
    const { instanceId, runs } = request;
    const adopted = this.#adopted(instanceId);
    if (adopted) return adopted.instance.containerId === null ? this.#begin(adopted) : shown(adopted);
    if (this.#running.has(instanceId)) {
      throw conflict("instance_exists", "Cannot start this: an instance with that ID exists; remove it first");
    }
    if (runs.kind === "image") this.volumes.use({ ...request, runs });
    const inside = runs.kind === "image" ? runs.ports : [null];
    const ports = inside.map((each) => {
      const port = freePort();
      return { inside: each ?? port, port };
    });
    const instance = stillInstance(request, ports);
    const script = scriptOf(this.scripts, request);
    const foundSince = request.unannounced ? null : ++lastFound;
    const running = { request, lines: [], servers: [], script, instance, foundSince };
    this.started.push(request);
    this.#running.set(instanceId, running);
    return this.#begin(running);
  }

  async find(instanceId: string): Promise<Instance | undefined> {
    const running = this.#at(instanceId);
    return running && shown(running);
  }

  async list({ server }: InstanceListOptions = {}): Promise<readonly Instance[]> {
    const all = Array.from(this.#running.values(), shown);
    return server === undefined ? all : all.filter(({ instanceId }) => serverOf(instanceId) === server);
  }

  async remove(instanceId: string, { beforeForgetting }: Partial<RemovalOptions> = {}): Promise<void> {
    const running = this.#at(instanceId);
    if (!running || (running.adopted !== undefined && running.instance.containerId === null)) return;
    await this.stop(instanceId);
    await beforeForgetting?.();
    // It may have been removed and restarted by another caller meanwhile.
    if (this.#running.get(instanceId) !== running) return;
    this.#running.delete(instanceId);
    this.volumes.leave(instanceId);
  }

  async restart(instanceId: string): Promise<Instance> {
    const running = this.#known(instanceId);
    await stopServers(running);
    running.script = scriptOf(this.scripts, running.request);
    running.instance = { ...running.instance, restarts: running.instance.restarts + 1 };
    return this.#begin(running);
  }

  async resume(instanceId: string): Promise<void> {
    const instance = await this.find(instanceId);
    if (adoptedInstance(instanceId) && instance?.status === "exited") await this.restart(instanceId);
  }

  async rest(instanceId: string): Promise<void> {
    const { adopted, instance } = this.#adopted(instanceId) ?? {};
    if (adopted !== undefined && instance?.containerId === null) this.resting.add(adopted);
  }

  /** Puts a container there that was not started here. */
  putOutside({ id, image, isUp }: OutsideContainer): void {
    const runs = { kind: "image", image, command: null, ports: [] } as const;
    const names = { instanceId: id, deploymentId: "", projectId: "", service: "" };
    const request: RunRequest = { ...names, scope: "", runs, environment: new Map() };
    const exit = { code: 0, reason: "stopped" } as const;
    const instance = { ...stillInstance(request, []), status: "exited", containerId: null, exit } as const;
    const script = scriptOf(this.scripts, request);
    const running: Running = { request, lines: [], servers: [], script, instance, foundSince: null, adopted: id };
    this.#outside.set(id, running);
    if (isUp) this.#begin(running);
  }

  /** Removes a container that was not started here, as somebody else would. */
  removeOutside(id: string): void {
    this.#outside.delete(id);
  }

  async introduce(instanceId: string): Promise<void> {
    this.#known(instanceId).foundSince ??= ++lastFound;
  }

  /** Stops an instance from outside, or like a server that crashes before removing it. */
  async stop(instanceId: string): Promise<void> {
    const running = this.#known(instanceId);
    if (running.instance.exit?.reason === "stopped") return;
    const wasUp = running.instance.containerId !== null;
    const exit = { code: null, reason: "stopped" } as const;
    running.instance = { ...running.instance, ...NOT_WAITING, status: "exited", containerId: null, exit };
    await stopServers(running);
    if (wasUp) print(running, running.script.lastWords);
  }

  /** Makes a program print lines. */
  print(instanceId: string, ...messages: readonly string[]): void {
    print(this.#known(instanceId), messages);
  }

  /** Returns the instances that other services of a scope find by a name. */
  named(scope: string, name: string): readonly string[] {
    const all = [...this.#running.values()].filter(({ request }) => request.scope === scope);
    const found = all.filter(({ request, foundSince }) => {
      const aliases = request.runs.kind === "image" ? (request.runs.container?.aliases ?? []) : [];
      const after = all.some((other) => other.request.service === request.service && takesOver(other, foundSince));
      return foundSince !== null && !after && [request.service, ...aliases].includes(name);
    });
    return found.map(({ instance }) => instance.instanceId);
  }

  async usage(instanceId: string): Promise<InstanceUsage | undefined> {
    const running = this.#at(instanceId);
    if (!running) return undefined;
    return {
      cpuPercent: 0,
      memoryBytes: running.instance.containerId === null ? 0 : 1_048_576,
      memoryLimitBytes: running.request.memoryBytes ?? null,
      networkRxBytes: null,
      networkTxBytes: null,
    };
  }

  async output(instanceId: string, { since, limit, from = new Date(0) }: OutputQuery): Promise<readonly OutputLine[]> {
    const lines = this.#at(instanceId)?.lines ?? [];
    return lines.filter(({ seq, at }) => seq > since && at >= from).slice(0, limit);
  }

  async listening(instanceId: string): Promise<readonly ListeningSocket[] | undefined> {
    const { instance, script } = this.#running.get(instanceId) ?? {};
    if (!instance || !script || instance.containerId === null) return undefined;
    if (script.does === "answers") return instance.ports.map(({ inside }) => ({ address: "0.0.0.0", port: inside }));
    return script.does === "keeps_silent" ? (script.listens ?? []) : [];
  }

  onEnding(handler: (instanceId: string) => void): () => void {
    return this.#endings.add(handler);
  }

  #known(instanceId: string): Running {
    const running = this.#at(instanceId);
    if (!running) throw notFound("instance");
    return running;
  }

  #at(instanceId: string): Running | undefined {
    return this.#adopted(instanceId) ?? this.#running.get(instanceId);
  }

  /** The container that an instance id names, if it is one that was not started here; its ids are what that says. */
  #adopted(instanceId: string): Running | undefined {
    const named = adoptedInstance(instanceId);
    if (!named) return undefined;
    const found = [...this.#outside.values()].find(({ adopted }) => adopted?.startsWith(named.containerId));
    const { deploymentId, projectId, service } = named;
    if (found) found.instance = { ...found.instance, instanceId, deploymentId, projectId, service };
    return found;
  }

  #begin(running: Running): Instance {
    const { script } = running;
    const up = {
      ...running.instance,
      ...NOT_WAITING,
      startedAt: new Date(),
      exit: null,
      containerId: running.adopted ?? `${++lastPid}`,
    };
    print(running, script.prints);
    if (script.does === "answers") {
      running.servers = up.ports.map(({ inside, port }) => serve(script, inside, port));
      running.instance = { ...up, status: "running" };
    } else if (script.does === "keeps_silent") {
      // Without ports it counts as running.
      running.instance = { ...up, status: up.ports.length === 0 ? "running" : "starting" };
    } else if (script.does === "ends" && script.after) {
      running.instance = { ...up, status: "running" };
      const run = up.containerId;
      void script.after.then(() => {
        if (running.instance.containerId === run) this.#end(running, script);
      });
    } else {
      running.instance = up;
      this.#end(running, script);
    }
    return shown(running);
  }

  /** Ends the program as often as a crash loop takes, and leaves it there. A one-shot ends once. */
  #end(running: Running, script: Ending): void {
    const { instance, request } = running;
    if (request.oneShot) {
      running.instance = { ...instance, status: "exited", containerId: null, exit: ending(script) };
      return;
    }
    for (let run = 0; run < CRASH_LOOP; run++) {
      if (run > 0) print(running, script.prints);
      print(running, [endingNote(ending(script), PAUSE_MS)], "slipway");
    }
    running.instance = {
      ...instance,
      status: "restarting",
      containerId: null,
      restarts: instance.restarts + CRASH_LOOP,
      failing: true,
      nextStartAt: new Date(Date.now() + PAUSE_MS),
      exit: ending(script),
    };
    this.#endings.notify(instance.instanceId);
  }
}

/** Returns whether it was introduced after another instance was found. */
function takesOver({ request, foundSince }: Running, before: number | null): boolean {
  return request.unannounced === true && foundSince !== null && before !== null && foundSince > before;
}

function serve({ respond }: Extract<Script, { does: "answers" }>, inside: number, port: number) {
  const answer = respond ?? (() => new Response("ok"));
  const server = Bun.serve({ hostname: HOST, port, fetch: (request) => answer(request, inside) });
  server.unref();
  return server;
}

async function stopServers(running: Running): Promise<void> {
  await Promise.all(running.servers.map((server) => server.stop(true)));
  running.servers = [];
}

function freePort(): number {
  const listener = Bun.listen({ hostname: HOST, port: 0, socket: { data() {} } });
  const { port } = listener;
  listener.stop(true);
  return port;
}
