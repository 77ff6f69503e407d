import type { EngineApi, EngineRequest } from "./engine_api.ts";

/** A container as the engine inspects it, reduced to the fields used here. */
export interface ContainerRecord {
  readonly Id: string;
  /** With a leading slash. */
  readonly Name: string;
  readonly Created: string;
  /** The digest of its image. */
  readonly Image: string;
  /** How often the engine itself has restarted it since its last manual start. */
  readonly RestartCount: number;
  readonly State: ContainerState;
  readonly Config: {
    readonly Labels: Readonly<Record<string, string>>;
    /** Its own stop timeout, in seconds. */
    readonly StopTimeout?: number | null;
  };
  readonly HostConfig: {
    readonly Memory: number;
    readonly RestartPolicy: { readonly Name: string };
    readonly PortBindings: Readonly<Record<string, readonly { readonly HostPort: string }[] | null>> | null;
  };
}

/** The state of a container. */
export interface ContainerState {
  readonly Status: "created" | "running" | "paused" | "restarting" | "removing" | "exited" | "dead";
  readonly Pid: number;
  readonly ExitCode: number;
  readonly OOMKilled: boolean;
  /** Why the engine could not start it, or empty. */
  readonly Error: string;
  readonly StartedAt: string;
  readonly FinishedAt: string;
  readonly Health?: { readonly Status: "none" | "starting" | "healthy" | "unhealthy" } | null;
}

/** A container as the engine lists it. */
export interface ListedContainer {
  readonly Id: string;
  readonly Names: readonly string[];
  /** In seconds. */
  readonly Created: number;
  readonly Labels: Readonly<Record<string, string>>;
  /** The connected networks, by name. */
  readonly NetworkSettings: { readonly Networks: Readonly<Record<string, { readonly NetworkID: string }>> | null };
}

/** Lists the containers that match filters, running or not. */
export function listContainers(
  engine: EngineApi,
  filters: Readonly<Record<string, readonly string[]>>,
  options: Pick<EngineRequest, "timeoutMs"> = {},
): Promise<readonly ListedContainer[]> {
  const query = { all: true, filters: JSON.stringify(filters) };
  return engine.json<readonly ListedContainer[]>("GET", "/containers/json", { ...options, query });
}

/** Inspects a container; `undefined` if there is none. */
export function inspectContainer(
  engine: EngineApi,
  id: string,
  options: Pick<EngineRequest, "timeoutMs"> = {},
): Promise<ContainerRecord | undefined> {
  return engine.known<ContainerRecord>("GET", `/containers/${id}/json`, options);
}

/** Creates a container and returns its id. */
export async function createContainer(engine: EngineApi, name: string, json: object): Promise<string> {
  const made = await engine.json<{ readonly Id: string }>("POST", "/containers/create", { query: { name }, json });
  return made.Id;
}

export async function startContainer(engine: EngineApi, id: string): Promise<void> {
  await engine.request("POST", `/containers/${id}/start`);
}

/** Removes a container in any state with its anonymous volumes. */
export async function removeContainer(engine: EngineApi, id: string): Promise<void> {
  await engine.request("DELETE", `/containers/${id}`, { query: { force: true, v: true } });
}
