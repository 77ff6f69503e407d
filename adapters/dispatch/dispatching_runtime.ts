import { runnableKindOf, serverOf } from "../../domain/deployments/instance_id.ts";
import { Failure, isEngineAway } from "../../domain/failure.ts";
import type { InstanceEndings } from "../../ports/services/instance_endings.ts";
import type {
  Instance,
  InstanceUsage,
  InstanceListOptions,
  OutputLine,
  OutputQuery,
  RemovalOptions,
  RunnableFolder,
  RunnableImage,
  RunRequest,
  Runtime,
} from "../../ports/services/runtime.ts";
import { withTimeout } from "../shared/deadline.ts";

const ANSWER_MS = 5_000;

export interface DispatchingRuntimeOptions {
  readonly folder: Runtime<RunnableFolder> & InstanceEndings;
  readonly image: Runtime<RunnableImage> & InstanceEndings;
  /** Whether anything ever ran in containers; until then, lists do not query the container engine. */
  readonly usesContainers?: () => Promise<boolean>;
  /** The runtimes of servers. Absent: everything runs on this machine. */
  readonly servers?: ServerRuntimes;
  /** How long a list waits for the container engine. Defaults to 5 s. */
  readonly answerMs?: number;
}

/** The runtimes of servers, whose instance ids name the server. */
export interface ServerRuntimes extends InstanceEndings {
  of(serverId: string): { readonly runtime: Runtime<RunnableImage> };
  /** Returns the ids of the servers that something may run on. */
  inUse(): Promise<readonly string[]>;
}

/** Runs folders and images side by side, each with its own runtime; the instance id determines which. */
export class DispatchingRuntime implements Runtime, InstanceEndings {
  readonly #folders: DispatchingRuntimeOptions["folder"];
  readonly #images: DispatchingRuntimeOptions["image"];
  readonly #usesContainers: () => Promise<boolean>;
  readonly #servers: ServerRuntimes | undefined;
  readonly #answerMs: number;

  constructor(options: DispatchingRuntimeOptions) {
    const { folder, image, usesContainers = async () => true, servers, answerMs = ANSWER_MS } = options;
    this.#servers = servers;
    this.#folders = folder;
    this.#images = image;
    this.#usesContainers = usesContainers;
    this.#answerMs = answerMs;
  }

  async start(request: RunRequest): Promise<Instance> {
    const { runs } = request;
    if (runs.kind === "folder") return this.#folders.start({ ...request, runs });
    return this.#containers(request.instanceId).start({ ...request, runs });
  }

  async find(instanceId: string): Promise<Instance | undefined> {
    return this.#of(instanceId).find(instanceId);
  }

  /** While the container engine is unavailable, lists only instances of folders; with `all` it rejects instead. */
  async list({ all = false, containers = true, server }: InstanceListOptions = {}): Promise<readonly Instance[]> {
    if (!containers) return this.#folders.list();
    const listed = (runtime: Runtime<RunnableImage>) =>
      all ? runtime.list() : inTime(runtime.list(), this.#answerMs).catch(noneWhileAway);
    if (server) return this.#servers ? listed(this.#servers.of(server).runtime) : [];
    const away = server === null ? [] : ((await this.#servers?.inUse()) ?? []);
    const here = (await this.#usesContainers()) ? [listed(this.#images)] : [];
    const there = away.map((serverId) => listed(this.#servers!.of(serverId).runtime));
    return (await Promise.all([this.#folders.list(), ...here, ...there])).flat();
  }

  async remove(instanceId: string, options: RemovalOptions): Promise<void> {
    return this.#of(instanceId).remove(instanceId, options);
  }

  async restart(instanceId: string, options: { readonly graceMs: number }): Promise<Instance> {
    return this.#of(instanceId).restart(instanceId, options);
  }

  async introduce(instanceId: string): Promise<void> {
    return this.#of(instanceId).introduce(instanceId);
  }

  async usage(instanceId: string): Promise<InstanceUsage | undefined> {
    return this.#of(instanceId).usage(instanceId);
  }

  async output(instanceId: string, wanted: OutputQuery): Promise<readonly OutputLine[]> {
    return this.#of(instanceId).output(instanceId, wanted);
  }

  onEnding(handler: (instanceId: string) => void): () => void {
    const runtimes = [this.#folders, this.#images, ...(this.#servers ? [this.#servers] : [])];
    const stops = runtimes.map((runtime) => runtime.onEnding(handler));
    return () => stops.forEach((stop) => stop());
  }

  #of(instanceId: string): Omit<Runtime, "start"> {
    return runnableKindOf(instanceId) === "image" ? this.#containers(instanceId) : this.#folders;
  }

  #containers(instanceId: string): Runtime<RunnableImage> {
    const serverId = serverOf(instanceId);
    return serverId !== null && this.#servers ? this.#servers.of(serverId).runtime : this.#images;
  }
}

/** Bounds the wait, so that instances of folders do not depend on a container engine that hangs. */
function inTime<T>(work: Promise<T>, answerMs: number): Promise<T> {
  const sentence = "Cannot list the containers: the engine does not answer";
  return withTimeout(answerMs, work, () => new Failure("unavailable", "engine_away", sentence));
}

function noneWhileAway(error: unknown): readonly Instance[] {
  if (isEngineAway(error)) return [];
  throw error;
}
