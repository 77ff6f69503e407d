import type { Secret } from "../domain/secret.ts";

/** What is to be run. */
export interface RunRequest {
  /** Unique; what the instance is known by afterwards. */
  readonly instanceId: string;
  readonly deploymentId: string;
  readonly projectId: string;
  readonly service: string;
  /** The release folder, and the folder inside it to run in. */
  readonly folder: string;
  readonly workingFolder: string;
  /** Run by the instance's own shell; `PORT` tells it where to listen. */
  readonly command: string;
  readonly environment: ReadonlyMap<string, Secret>;
  readonly memoryBytes?: number;
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
  /** Where it listens, on this machine. */
  readonly host: string;
  readonly port: number;
  /** The process or container. */
  readonly containerId: string | null;
  readonly startedAt: Date;
  readonly restarts: number;
  /** Why it ended, for a person. */
  readonly exit: {
    readonly code: number | null;
    readonly reason: "exited" | "crash_loop" | "out_of_memory" | "stopped";
  } | null;
}

/** What an instance uses now. */
export interface InstanceUsage {
  readonly cpuPercent: number;
  readonly memoryBytes: number;
  readonly memoryLimitBytes: number | null;
  readonly networkRxBytes: number | null;
  readonly networkTxBytes: number | null;
}

/** One line that an instance printed; numbered from 1 per instance. */
export interface OutputLine {
  readonly seq: number;
  readonly at: Date;
  readonly stream: "stdout" | "stderr";
  readonly message: string;
}

/** Runs what was built, supervised, apart from each other. Instances outlive the process that started them and are found again. */
export interface Runtime {
  /** Starts an instance and resolves once its program was started, not once it answers. */
  start(request: RunRequest): Promise<Instance>;
  find(instanceId: string): Promise<Instance | undefined>;
  /** Every instance of this installation, running or ended, until it is removed. */
  list(): Promise<readonly Instance[]>;
  /** Asks it to stop, kills what is left of it and its children after `graceMs`, and forgets it. An unknown one is no error. */
  remove(instanceId: string, options: { readonly graceMs: number }): Promise<void>;
  /** Stops its program and starts it anew, at the same address. */
  restart(instanceId: string, options: { readonly graceMs: number }): Promise<Instance>;
  usage(instanceId: string): Promise<InstanceUsage | undefined>;
  /** What it printed after `since`, at most `limit` lines; old output is dropped beyond a bound. */
  output(
    instanceId: string,
    options: { readonly since: number; readonly limit: number },
  ): Promise<readonly OutputLine[]>;
}
