import { DispatchingRuntime } from "../../../adapters/dispatch/dispatching_runtime.ts";
import { MemoryTables } from "../../../adapters/memory/memory_tables.ts";
import type { MemoryWorld } from "../../../adapters/memory/memory_world.ts";
import { MemoryRuntime } from "../../../adapters/memory/runtime.ts";
import { type MemoryServerEngine, MemoryServerEngines } from "../../../adapters/memory/server_engines.ts";
import { EndingHandlers } from "../../../adapters/shared/ending_handlers.ts";
import { Failure } from "../../../domain/failure.ts";
import type { Instance } from "../../../ports/services/runtime.ts";
import type { ServerEngine, ServerEngines } from "../../../ports/servers/server_engines.ts";
import type { World } from "../../../ports/world.ts";
import { aServer } from "../database/server_builders.ts";
import type { EngineScene, SceneOptions } from "./engine_scene.ts";
import { shopScene } from "./service_scene.ts";

/** Why a simulated server cannot be reached. */
export const AWAY = 'Cannot connect to the server "Berlin": nothing answers there. Check that it is up';

/** Simulated servers that each have an engine with a runtime of their own, and can be away. */
export class SimulatedServers implements ServerEngines {
  /** The ids of the servers that cannot be reached. */
  readonly away = new Set<string>();
  /** Every call to a port of a server: `srv_…: volumes.list`. */
  readonly calls: string[] = [];
  readonly #world: MemoryWorld;
  readonly #engines = new Map<string, MemoryServerEngine>();
  readonly #guarded = new Map<string, ServerEngine>();
  readonly #endings = new EndingHandlers();

  constructor(world: MemoryWorld) {
    this.#world = world;
  }

  of(serverId: string): ServerEngine {
    const known = this.#guarded.get(serverId);
    if (known) return known;
    const ports = Object.entries(this.engine(serverId)).map(([name, port]) => {
      return [name, this.#guard(serverId, name, port as object)];
    });
    const guarded = Object.fromEntries(ports) as unknown as ServerEngine;
    this.#guarded.set(serverId, guarded);
    return guarded;
  }

  noteContainers(serverId: string): Promise<void> {
    return this.#world.serverOwners.noteContainers(serverId);
  }

  inUse(): Promise<readonly string[]> {
    return this.#world.serverOwners.inUse();
  }

  onEnding(handler: (instanceId: string) => void): () => void {
    return this.#endings.add(handler);
  }

  /** The engine of a server as the server itself sees it, whether it can be reached or not. */
  engine(serverId: string): MemoryServerEngine {
    const known = this.#engines.get(serverId);
    if (known) return known;
    const runtime = new MemoryRuntime();
    const engine = new MemoryServerEngines(new MemoryTables(), runtime, this.#world).of(serverId);
    runtime.onEnding((instanceId) => this.#endings.notify(instanceId));
    this.#engines.set(serverId, engine);
    return engine;
  }

  /** What runs on a server. */
  running(serverId: string): Promise<readonly Instance[]> {
    return this.engine(serverId).runtime.list();
  }

  /** The ports of a world with these servers. */
  ports(): Pick<World, "runtime" | "serverEngines"> {
    const { runtime } = this.#world;
    return { runtime: new DispatchingRuntime({ folder: runtime, image: runtime, servers: this }), serverEngines: this };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { runtime } of this.#engines.values()) {
      for (const { instanceId } of await runtime.list()) await runtime.remove(instanceId);
    }
  }

  /** A port that rejects every call while its server is away, except the question whether it answers. */
  #guard(serverId: string, name: string, port: object): object {
    return new Proxy(port, {
      get: (target, method) => {
        const member: unknown = Reflect.get(target, method, target);
        if (typeof member !== "function") return member;
        if (method === "onEnding") return member.bind(target);
        return async (...words: unknown[]) => {
          this.calls.push(`${serverId}: ${name}.${String(method)}`);
          if (!this.away.has(serverId)) return member.apply(target, words);
          if (name === "containerEngine") return false;
          throw new Failure("unavailable", "engine_away", AWAY);
        };
      },
    });
  }
}

/** A scene in which every image of a shop exists here and on two servers. */
export interface ServerScene extends AsyncDisposable {
  readonly scene: EngineScene;
  readonly servers: SimulatedServers;
  /** The ids of the servers. */
  readonly berlin: string;
  readonly paris: string;
}

/** Opens a scene with two servers, which nothing runs on. */
export async function serverScene(options: SceneOptions = {}): Promise<ServerScene> {
  let servers: SimulatedServers | undefined;
  const scene = await shopScene({
    ...options,
    replace(world) {
      servers = new SimulatedServers(world);
      return { ...servers.ports(), ...options.replace?.(world) };
    },
  });
  const there = servers!;
  const { organizationId } = scene.by;
  const [berlin, paris] = [
    await aServer(scene.memory, { organizationId, name: "Berlin" }),
    await aServer(scene.memory, { organizationId, name: "Paris" }),
  ];
  for (const { id } of [berlin, paris]) {
    const { imageRegistry, runtime } = there.engine(id);
    for (const [name, image] of scene.memory.imageRegistry.known) imageRegistry.known.set(name, image);
    for (const [name, script] of scene.memory.runtime.scripts) runtime.scripts.set(name, script);
  }
  return {
    scene,
    servers: there,
    berlin: berlin.id,
    paris: paris.id,
    async [Symbol.asyncDispose]() {
      await scene[Symbol.asyncDispose]();
      await there[Symbol.asyncDispose]();
    },
  };
}
