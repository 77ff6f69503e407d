import { MemoryEngineInventories } from "../../../adapters/memory/engine_inventories.ts";
import { type MemoryMachine, MemoryRemoteHosts } from "../../../adapters/memory/remote_hosts.ts";
import { MemoryServerConnections } from "../../../adapters/memory/server_connections.ts";
import type { FoundContainer, FoundMount, FoundNetwork, FoundVolume } from "../../../domain/migration/inventory.ts";
import { Secret } from "../../../domain/secret.ts";
import type { ServerStage, StagedContainer } from "../../contracts/server_stage.ts";
import { found, foundImage, inventoryOf } from "../inputs/found.ts";

const HOST = "10.0.0.5";

/** Returns a stage of simulated machines. */
export function memoryStage(): ServerStage {
  const engine = new StagedEngine();
  const files = new Map<string, string | null>();
  const hosts = new MemoryRemoteHosts([machine("10.0.0.6")]);
  const boot = (state: MemoryMachine["engine"] = engine.inventory) => {
    hosts.add({ ...machine(HOST), engine: state, forbidden: ["outsider"], files });
  };
  boot();
  return {
    connections: new MemoryServerConnections(hosts),
    inventories: new MemoryEngineInventories(hosts),
    worker: login(HOST, "worker"),
    outsider: login(HOST, "outsider"),
    bare: login("10.0.0.6", "worker"),
    absent: login("10.0.0.7", "worker"),
    strangerKey: new Secret(key("stranger")),
    deadAddress: "memory://10.0.0.6:22",
    writeFile: async (path, text, { isPrivate = false } = {}) => void files.set(path, isPrivate ? null : text),
    createContainer: async (container) => engine.create(container),
    removeContainer: async (name) => engine.remove(name),
    createVolume: async (name) => void engine.volumes.push({ name, driver: "local", labels: {} }),
    createNetwork: async (name) => void engine.networks.push({ name, driver: "bridge", labels: {} }),
    stopEngine: async () => boot("stopped"),
    startEngine: async () => boot(),
    cutPower: async () => hosts.remove(HOST),
    restorePower: async () => boot(),
    [Symbol.asyncDispose]: async () => hosts.remove(HOST),
  };
}

/** An engine that reports containers as they are created. */
class StagedEngine {
  readonly volumes: FoundVolume[] = [];
  readonly networks: FoundNetwork[] = [];
  readonly #containers: FoundContainer[] = [];
  readonly inventory = inventoryOf(this.#containers, { volumes: this.volumes, networks: this.networks });

  create(staged: StagedContainer): string {
    const container = createdFrom(staged);
    this.#containers.push(container);
    this.#containers.sort((a, b) => (a.name < b.name ? -1 : 1));
    return container.id;
  }

  remove(name: string): void {
    const index = this.#containers.findIndex((container) => container.name === name);
    if (index >= 0) this.#containers.splice(index, 1);
  }
}

function createdFrom(staged: StagedContainer): FoundContainer {
  const { exposed, healthCommand, memoryMiB, name, network, published } = staged;
  const declared = exposed === undefined ? [] : [{ port: exposed, protocol: "tcp", published: null }];
  const outside = published && {
    port: published.inside,
    protocol: "tcp",
    published: { address: published.address, port: published.outside },
  };
  return found({
    name,
    image: "tiny:latest",
    imageFacts: foundImage("tiny:latest", { digests: [], command: ["sh"] }),
    state: staged.isStarted ? "running" : "created",
    command: staged.command ?? ["sh"],
    environment: staged.environment ?? {},
    labels: staged.labels ?? {},
    ports: [...declared, ...(outside ? [outside] : [])],
    mounts: mountsOf(staged),
    networkMode: network?.name ?? "bridge",
    networks: [
      network
        ? { name: network.name, aliases: [network.alias], addresses: [network.address] }
        : { name: "bridge", aliases: [], addresses: [] },
    ],
    restart: staged.restart ?? "no",
    healthcheck:
      healthCommand === undefined
        ? null
        : {
            test: ["CMD-SHELL", healthCommand],
            intervalMs: 7_000,
            timeoutMs: null,
            startPeriodMs: null,
            retries: null,
          },
    limits: { memoryBytes: memoryMiB === undefined ? null : memoryMiB * 1_048_576, cpus: null },
    removedAtEnd: staged.isRemovedAtEnd ?? false,
    privileges: staged.isPrivileged ? ["privileged"] : [],
  });
}

function mountsOf({ anonymousVolume, memoryMount, mounts = [] }: StagedContainer): readonly FoundMount[] {
  const usual = { readOnly: false, anonymous: false };
  return [
    ...mounts.map(({ readOnly = false, source, target }) => {
      const type = source.startsWith("/") ? ("bind" as const) : ("volume" as const);
      return { ...usual, type, source, target, readOnly };
    }),
    ...(anonymousVolume === undefined
      ? []
      : [{ ...usual, type: "volume" as const, source: "a".repeat(64), target: anonymousVolume, anonymous: true }]),
    ...(memoryMount === undefined ? [] : [{ ...usual, type: "tmpfs" as const, source: "", target: memoryMount }]),
  ];
}

function machine(host: string): MemoryMachine {
  const users = ["worker", "outsider"];
  return {
    host,
    hostKey: `SHA256:${"m".repeat(42)}A`,
    logins: users.map((user) => ({ user, privateKey: key(user) })),
  };
}

function login(host: string, user: string) {
  return { host, port: 22, user, privateKey: new Secret(key(user)) };
}

function key(name: string): string {
  return `-----BEGIN PRIVATE KEY-----\nthe key of ${name}\n-----END PRIVATE KEY-----\n`;
}
