import type { Ending } from "../../domain/deployments/ending.ts";
import type { OutputStream } from "../../domain/deployments/output_stream.ts";
import type { Secret } from "../../domain/secret.ts";
import type { ContainerSpec } from "../../domain/services/service_spec.ts";

/** A folder inside a release folder, and the command that an own shell runs in it; `PORT` tells it where to listen. */
export interface RunnableFolder {
  readonly kind: "folder";
  readonly folder: string;
  readonly workingFolder: string;
  readonly command: string;
}

/** An image by its digest. Without a command it starts as it is made to, or as `container` says. */
export interface RunnableImage {
  readonly kind: "image";
  readonly image: string;
  /** One line for a shell. */
  readonly command: string | null;
  /** The ports inside that are reached from this machine, the most important first; none for what only others of its scope reach. */
  readonly ports: readonly number[];
  /**
   * How it differs from what its image says; its `mounts` are not looked at here. With it, what the image declares to be kept and nothing is mounted at
   * is a volume of the scope, by the name `<service>:<path>`.
   */
  readonly container?: ContainerSpec;
  /** What is mounted: sources and volumes by the names and paths that the engine knows them by. */
  readonly mounts?: readonly RunnableMount[];
}

/** Something that is seen inside an instance at a path. */
export type RunnableMount =
  /** Kept by the scope under a name, whatever runs of it. Made when it is not there, never removed with an instance. */
  | { readonly kind: "volume"; readonly name: string; readonly target: string; readonly readOnly: boolean }
  /**
   * A volume of the engine that was there before, by the engine's name; `volume_missing` where there is none, `volume_foreign` where another scope
   * or installation keeps it.
   */
  | { readonly kind: "external"; readonly name: string; readonly target: string; readonly readOnly: boolean }
  /** An absolute path of this machine; it has to be there, else `path_missing`. */
  | { readonly kind: "path"; readonly path: string; readonly target: string; readonly readOnly: boolean }
  | { readonly kind: "memory"; readonly target: string; readonly bytes: number | null };

/** What an instance is started from. */
export type Runnable = RunnableFolder | RunnableImage;

/** What is to be run; `From` says of which kinds. */
export interface RunRequest<From extends Runnable = Runnable> {
  /** Unique; what the instance is known by afterwards. */
  readonly instanceId: string;
  readonly deploymentId: string;
  readonly projectId: string;
  readonly service: string;
  /** Instances of one scope find each other by the names of their services, and share volumes; those of others do not. */
  readonly scope: string;
  /** Others do not find it by its name before it is introduced. */
  readonly unannounced?: boolean;
  readonly runs: From;
  readonly environment: ReadonlyMap<string, Secret>;
  readonly memoryBytes?: number;
  /** How many processors it may keep busy. */
  readonly cpus?: number;
  /** Ends by itself: whatever its exit code, it is not started again. */
  readonly oneShot?: boolean;
}

/** A running or ended instance. */
export interface Instance {
  readonly instanceId: string;
  readonly deploymentId: string;
  readonly projectId: string;
  readonly service: string;
  readonly status: "starting" | "running" | "restarting" | "exited";
  /** Where it is reached from this machine: the most important port; `null` when it is not. */
  readonly host: string;
  readonly port: number | null;
  /** All ports that it is reached at, with the port inside that each leads to. */
  readonly ports: readonly { readonly inside: number; readonly port: number }[];
  /** Whether something in between takes connections although the program itself may not listen yet. */
  readonly relayed: boolean;
  /** What its own health check says; `null` when it brings none. */
  readonly health: "starting" | "healthy" | "unhealthy" | null;
  /** The digest of the image it runs. */
  readonly image: string | null;
  /** The process or container; `null` while it does not run. */
  readonly containerId: string | null;
  readonly startedAt: Date;
  readonly restarts: number;
  /** Whether it is in a crash loop: it ended five times or more without having stayed up in between, and waits for its next start. */
  readonly failing: boolean;
  /** When it is started again, if it waits for that; where an engine decides, no later than this. */
  readonly nextStartAt: Date | null;
  /** Why it ended, for a person; one that was stopped, or never got to run, does not come back by itself. */
  readonly exit: Ending | null;
}

/** What an instance uses now. */
export interface InstanceUsage {
  readonly cpuPercent: number;
  readonly memoryBytes: number;
  readonly memoryLimitBytes: number | null;
  readonly networkRxBytes: number | null;
  readonly networkTxBytes: number | null;
}

/** One line that an instance printed, or that tells of an ending after which it is started again. Numbers grow from 1 per instance, a line keeps its number, and there may be gaps. */
export interface OutputLine {
  readonly seq: number;
  readonly at: Date;
  readonly stream: OutputStream;
  readonly message: string;
}

/** Which lines are wanted: those after number `since`, of these the ones that were printed at `from` or later, at most `limit`. */
export interface OutputQuery {
  readonly since: number;
  readonly limit: number;
  readonly from?: Date;
}

/** Which instances a list is about, where runtimes stand side by side. */
export interface ListOptions {
  /**
   * What is in an engine that does not answer is left out, unless all is asked for: then the list rejects with an `unavailable` failure, code
   * `engine_away`.
   */
  readonly all?: boolean;
  /** With `false`, no engine is asked and containers are left out. Defaults to `true`. */
  readonly containers?: boolean;
}

/** How an instance is to be removed. */
export interface RemovalOptions {
  readonly graceMs: number;
  /**
   * Called once the program has ended, while `output` still gives all that it printed, up to its last words. The instance is forgotten after that;
   * when this rejects, it stays as one that was stopped, as it does when the server is killed meanwhile.
   */
  readonly beforeForgetting?: () => Promise<void>;
}

/**
 * Runs what was built, supervised, apart from each other. Instances outlive the process that started them and are found again. One that ends, and is
 * no one-shot, is started again for ever: after pauses that grow to a minute, and after short ones again once it has stayed up for ten seconds.
 */
export interface Runtime<From extends Runnable = Runnable> {
  /** Starts an instance and resolves once its program was started, not once it answers. */
  start(request: RunRequest<From>): Promise<Instance>;
  find(instanceId: string): Promise<Instance | undefined>;
  /** Every instance of this installation, running or ended, until it is removed. */
  list(options?: ListOptions): Promise<readonly Instance[]>;
  /**
   * Asks it to stop, kills what is left of it and its children after `graceMs`, or after the time that it wants for itself where that is longer (five
   * minutes at most), and forgets it. Volumes of its scope stay. An unknown one is no error.
   */
  remove(instanceId: string, options: RemovalOptions): Promise<void>;
  /** Stops its program and starts it anew, at the same address. */
  restart(instanceId: string, options: { readonly graceMs: number }): Promise<Instance>;
  /**
   * From now on the others of its scope find it by its names, and nobody else of its service; there is no moment in which they find nobody. No connection
   * breaks: whoever was found before goes on with those it has, and is found again if this one is removed first. Repeating it changes nothing, and
   * mends what was broken off. Of one that was not unannounced, nothing is to be done.
   */
  introduce(instanceId: string): Promise<void>;
  usage(instanceId: string): Promise<InstanceUsage | undefined>;
  /**
   * What it printed, oldest first, no more than some megabytes, so perhaps fewer lines than the limit; none when there is no more. Old output is dropped
   * beyond a bound; where it is known how much, a line of the stream `slipway` in its place tells.
   */
  output(instanceId: string, wanted: OutputQuery): Promise<readonly OutputLine[]>;
}
