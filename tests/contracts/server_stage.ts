import type { Secret } from "../../domain/secret.ts";
import type { EngineInventories } from "../../ports/migration/engine_inventories.ts";
import type { RemoteTarget } from "../../ports/servers/remote_hosts.ts";
import type { ServerConnections } from "../../ports/servers/server_connections.ts";

/** A machine with an empty container engine, to test adapters on. It has the image `tiny:latest`, with `PATH=/bin`. */
export interface ServerStage extends AsyncDisposable {
  readonly connections: ServerConnections;
  readonly inventories: EngineInventories;
  /** Somebody who may use the engine, but is not root; without a host key. */
  readonly worker: RemoteTarget;
  /** Somebody who may log in to the same machine, but not use the engine. */
  readonly outsider: RemoteTarget;
  /** A login of another machine, where no engine is installed. */
  readonly bare: RemoteTarget;
  /** Nothing listens here. */
  readonly absent: RemoteTarget;
  /** A valid private key that no machine accepts. */
  readonly strangerKey: Secret;
  /** The address of an engine where none answers. */
  readonly deadAddress: string;
  /** Writes a file, with its folders; the worker may read it unless it is private. */
  writeFile(path: string, text: string, options?: { readonly isPrivate?: boolean }): Promise<void>;
  /** Creates a container of `tiny:latest`, starts it if told so, and resolves to its id. */
  createContainer(container: StagedContainer): Promise<string>;
  removeContainer(name: string): Promise<void>;
  createVolume(name: string): Promise<void>;
  createNetwork(name: string, subnet: string): Promise<void>;
  /** Stops the engine, and starts it again. */
  stopEngine(): Promise<void>;
  startEngine(): Promise<void>;
  /** Cuts the power of the machine, which breaks all connections, and boots it again. */
  cutPower(): Promise<void>;
  restorePower(): Promise<void>;
}

/** A container to create. */
export interface StagedContainer {
  readonly name: string;
  readonly isStarted?: boolean;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
  /** `address` of the machine and its port; the port in the container. */
  readonly published?: { readonly address: string; readonly outside: number; readonly inside: number };
  readonly exposed?: number;
  /** Named volumes and paths of the machine, by the path in the container. */
  readonly mounts?: readonly { readonly source: string; readonly target: string; readonly readOnly?: boolean }[];
  /** The path in the container of a volume that the engine names. */
  readonly anonymousVolume?: string;
  readonly memoryMount?: string;
  readonly network?: { readonly name: string; readonly alias: string; readonly address: string };
  readonly restart?: string;
  readonly healthCommand?: string;
  readonly memoryMiB?: number;
  readonly isPrivileged?: boolean;
  readonly isRemovedAtEnd?: boolean;
}

/** Returns the arguments with which Docker's client creates a container as it is described. */
export function clientArguments(container: StagedContainer): readonly string[] {
  const { anonymousVolume, exposed, memoryMount, mounts = [], network, published } = container;
  return [
    ...(container.isStarted ? ["run", "--detach"] : ["create"]),
    "--name",
    container.name,
    ...pairs("--env", container.environment),
    ...pairs("--label", container.labels),
    ...given("--publish", published && `${published.address}:${published.outside}:${published.inside}`),
    ...given("--expose", exposed),
    ...mounts.flatMap(({ readOnly, source, target }) => ["--volume", `${source}:${target}${readOnly ? ":ro" : ""}`]),
    ...given("--volume", anonymousVolume),
    ...given("--tmpfs", memoryMount),
    ...given("--network", network?.name),
    ...given("--network-alias", network?.alias),
    ...given("--ip", network?.address),
    ...given("--restart", container.restart),
    ...given("--health-cmd", container.healthCommand),
    ...(container.healthCommand === undefined ? [] : ["--health-interval", "7s"]),
    ...given("--memory", container.memoryMiB && `${container.memoryMiB}m`),
    ...(container.isPrivileged ? ["--privileged"] : []),
    ...(container.isRemovedAtEnd ? ["--rm"] : []),
    "tiny:latest",
    ...(container.command ?? []),
  ];
}

function pairs(option: string, values: Readonly<Record<string, string>> = {}): readonly string[] {
  return Object.entries(values).flatMap(([key, value]) => [option, `${key}=${value}`]);
}

function given(option: string, value: string | number | undefined): readonly string[] {
  return value === undefined ? [] : [option, `${value}`];
}
