/** What the engine tells of one container, as far as it is needed here. */
export interface ContainerRecord {
  readonly Id: string;
  /** With a leading slash. */
  readonly Name: string;
  readonly Created: string;
  /** The digest of its image. */
  readonly Image: string;
  /** How often the engine itself has started it again since it was last started by hand. */
  readonly RestartCount: number;
  readonly State: ContainerState;
  readonly Config: {
    readonly Labels: Readonly<Record<string, string>>;
    /** How long it wants to be given to stop, in seconds. */
    readonly StopTimeout?: number | null;
  };
  readonly HostConfig: {
    readonly Memory: number;
    readonly RestartPolicy: { readonly Name: string };
    readonly PortBindings: Readonly<Record<string, readonly { readonly HostPort: string }[] | null>> | null;
  };
}

/** How a container stands. */
export interface ContainerState {
  readonly Status: "created" | "running" | "paused" | "restarting" | "removing" | "exited" | "dead";
  readonly Pid: number;
  readonly ExitCode: number;
  readonly OOMKilled: boolean;
  /** Why the engine could not start it, or nothing. */
  readonly Error: string;
  readonly StartedAt: string;
  readonly FinishedAt: string;
  readonly Health?: { readonly Status: "none" | "starting" | "healthy" | "unhealthy" } | null;
}

/** What the engine's list tells of one container. */
export interface ListedContainer {
  readonly Id: string;
  readonly Names: readonly string[];
  /** In seconds. */
  readonly Created: number;
  readonly Labels: Readonly<Record<string, string>>;
  /** What it is connected to, by name. */
  readonly NetworkSettings: { readonly Networks: Readonly<Record<string, { readonly NetworkID: string }>> | null };
}
