import type { Ending } from "../../domain/deployments/ending.ts";
import type { OutputStream } from "../../domain/deployments/output_stream.ts";
import type { Secret } from "../../domain/secret.ts";
import type { ContainerSpec } from "../../domain/services/service_spec.ts";

/** A folder inside a release folder, and the command that its own shell runs there. `PORT` is the port to listen on. */
export interface RunnableFolder {
  readonly kind: "folder";
  readonly folder: string;
  readonly workingFolder: string;
  readonly command: string;
}

/** An image by its digest. Without a command it starts as the image, or `container`, defines. */
export interface RunnableImage {
  readonly kind: "image";
  readonly image: string;
  /** One shell command line. */
  readonly command: string | null;
  /**
   * The container ports to publish on this machine, the most important first. Empty for a service that only others of
   * its scope reach.
   */
  readonly ports: readonly number[];
  /**
   * Overrides of the image's configuration; its `mounts` are ignored here. When it is set, each volume that the image
   * declares and nothing is mounted at becomes a volume of the scope named `<service>:<path>`.
   */
  readonly container?: ContainerSpec;
  /** Mounts, with sources and volumes by the names and paths that the engine uses. */
  readonly mounts?: readonly RunnableMount[];
}

/** A mount at a path inside an instance. */
export type RunnableMount =
  /** A named volume of the scope, shared by its instances. Created if missing, never removed with an instance. */
  | { readonly kind: "volume"; readonly name: string; readonly target: string; readonly readOnly: boolean }
  /**
   * An existing volume of the engine, by the engine's name. Fails with `volume_missing` where there is none, and with
   * `volume_foreign` where another scope or installation owns it.
   */
  | { readonly kind: "external"; readonly name: string; readonly target: string; readonly readOnly: boolean }
  /** An absolute path on this machine. It must exist, else `path_missing`. */
  | { readonly kind: "path"; readonly path: string; readonly target: string; readonly readOnly: boolean }
  | { readonly kind: "memory"; readonly target: string; readonly bytes: number | null };

/** The artifact that an instance is started from. */
export type Runnable = RunnableFolder | RunnableImage;

/** A request to start an instance. `From` is the supported kinds of artifact. */
export interface RunRequest<From extends Runnable = Runnable> {
  /** Unique. Identifies the instance from then on. */
  readonly instanceId: string;
  readonly deploymentId: string;
  readonly projectId: string;
  readonly service: string;
  /** Instances of one scope resolve each other by service name and share volumes. Other scopes are isolated from it. */
  readonly scope: string;
  /** Others cannot resolve it by name until `introduce` is called. */
  readonly unannounced?: boolean;
  readonly runs: From;
  readonly environment: ReadonlyMap<string, Secret>;
  readonly memoryBytes?: number;
  /** The CPU limit, in cores. */
  readonly cpus?: number;
  /** Runs to completion: it is not restarted, whatever its exit code. */
  readonly oneShot?: boolean;
}

/** A running or ended instance. */
export interface Instance {
  readonly instanceId: string;
  readonly deploymentId: string;
  readonly projectId: string;
  readonly service: string;
  readonly status: "starting" | "running" | "restarting" | "exited";
  /** The address on this machine of its most important port; `port` is `null` when it is not reachable. */
  readonly host: string;
  readonly port: number | null;
  /** All published ports, each with the port inside the instance that it leads to. */
  readonly ports: readonly { readonly inside: number; readonly port: number }[];
  /** Whether a proxy in between accepts connections even while the program itself does not listen yet. */
  readonly relayed: boolean;
  /** The status of its own health check; `null` when it has none. */
  readonly health: "starting" | "healthy" | "unhealthy" | null;
  /** The digest of its image. */
  readonly image: string | null;
  /** The id of its process or container; `null` while it does not run. */
  readonly containerId: string | null;
  readonly startedAt: Date;
  readonly restarts: number;
  /**
   * Whether it is in a crash loop: it ended at least five times without staying up in between, and waits for its next
   * start.
   */
  readonly failing: boolean;
  /** The time of its next start, if it waits for one. Where an engine decides, this is the latest time. */
  readonly nextStartAt: Date | null;
  /** Why it ended, for display. An instance that was stopped, or never ran, does not restart by itself. */
  readonly exit: Ending | null;
}

/** The current resource usage of an instance. */
export interface InstanceUsage {
  readonly cpuPercent: number;
  readonly memoryBytes: number;
  readonly memoryLimitBytes: number | null;
  readonly networkRxBytes: number | null;
  readonly networkTxBytes: number | null;
}

/**
 * One line that an instance printed, or that reports an ending followed by a restart. Sequence numbers increase from 1
 * per instance and never change, but may have gaps.
 */
export interface OutputLine {
  readonly seq: number;
  readonly at: Date;
  readonly stream: OutputStream;
  readonly message: string;
}

/** Selects lines after number `since`, printed at `from` or later, at most `limit`. */
export interface OutputQuery {
  readonly since: number;
  readonly limit: number;
  readonly from?: Date;
}

/** Which instances to list when several runtimes are combined. */
export interface InstanceListOptions {
  /**
   * Whether the list must be complete. If so, it rejects with an `unavailable` failure, code `engine_away`, when an
   * engine does not answer; otherwise it leaves that engine's instances out.
   */
  readonly all?: boolean;
  /** With `false`, no engine is queried and containers are left out. Defaults to `true`. */
  readonly containers?: boolean;
  /** Lists only what runs on this server, or with `null` on this machine. Absent: everywhere. */
  readonly server?: string | null;
}

/** Options of `remove`. */
export interface RemovalOptions {
  readonly graceMs: number;
  /**
   * Called once the program has ended, while `output` still returns everything up to its last line. The instance is
   * forgotten after that. When this rejects, or the server is killed meanwhile, the instance remains as a stopped one.
   */
  readonly beforeForgetting?: () => Promise<void>;
}

/**
 * Runs built artifacts supervised and isolated from each other. Instances outlive the process that started them and are
 * found again. Restart policy: an instance that ends and is no one-shot restarts forever, with a backoff that grows to
 * one minute and resets once the instance has stayed up for ten seconds.
 */
export interface Runtime<From extends Runnable = Runnable> {
  /**
   * Starts an instance. Resolves once its program was started, not once it responds. With the id of an adopted
   * container that is there, starts that container as it is.
   */
  start(request: RunRequest<From>): Promise<Instance>;
  find(instanceId: string): Promise<Instance | undefined>;
  /** Lists every instance of this installation, running or ended, until it is removed. */
  list(options?: InstanceListOptions): Promise<readonly Instance[]>;
  /**
   * Requests a stop, kills the rest of it and its children after `graceMs`, or after its own stop timeout where that is
   * longer (at most five minutes), and forgets it. Volumes of its scope stay. An unknown id is no error. An adopted
   * container is only stopped.
   */
  remove(instanceId: string, options: RemovalOptions): Promise<void>;
  /** Stops its program and starts it again, at the same address. */
  restart(instanceId: string, options: { readonly graceMs: number }): Promise<Instance>;
  /**
   * Makes the others of its scope resolve its names to this instance, and to no other one of its service, without a gap
   * in which the names resolve to nothing. No connection breaks: the previous instance keeps its open connections, and
   * is resolved again if this one is removed first. Idempotent; a repeated call also repairs an interrupted one. Does
   * nothing for an instance that was not started as `unannounced`.
   */
  introduce(instanceId: string): Promise<void>;
  usage(instanceId: string): Promise<InstanceUsage | undefined>;
  /**
   * Returns printed lines, oldest first: at most a few megabytes, so perhaps fewer than the limit, and none at the end.
   * Old output beyond a bound is dropped; where the amount is known, a line of the stream `slipway` in its place
   * reports it.
   */
  output(instanceId: string, wanted: OutputQuery): Promise<readonly OutputLine[]>;
}
