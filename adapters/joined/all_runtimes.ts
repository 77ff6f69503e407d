import { runnableKindOf } from "../../domain/deployment/instance_id.ts";
import { isEngineAway } from "../../domain/failure.ts";
import type {
  Instance,
  InstanceUsage,
  OutputLine,
  RunnableFolder,
  RunnableImage,
  RunRequest,
  Runtime,
} from "../../ports/runtime.ts";

/** Runs folders and images side by side, each by a runtime of its own; ids of instances tell which. */
export class AllRuntimes implements Runtime {
  readonly #folders: Runtime<RunnableFolder>;
  readonly #images: Runtime<RunnableImage>;

  constructor({ folder, image }: { readonly folder: Runtime<RunnableFolder>; readonly image: Runtime<RunnableImage> }) {
    this.#folders = folder;
    this.#images = image;
  }

  async start(request: RunRequest): Promise<Instance> {
    const { runs } = request;
    return runs.kind === "image" ? this.#images.start({ ...request, runs }) : this.#folders.start({ ...request, runs });
  }

  async find(instanceId: string): Promise<Instance | undefined> {
    return this.#of(instanceId).find(instanceId);
  }

  /** While no engine answers, what runs there cannot be told, nor can anything be done about it: those of folders are all there is. */
  async list(): Promise<readonly Instance[]> {
    const [folders, images] = await Promise.all([this.#folders.list(), this.#images.list().catch(noneWhileAway)]);
    return [...folders, ...images];
  }

  async remove(instanceId: string, options: { readonly graceMs: number }): Promise<void> {
    return this.#of(instanceId).remove(instanceId, options);
  }

  async restart(instanceId: string, options: { readonly graceMs: number }): Promise<Instance> {
    return this.#of(instanceId).restart(instanceId, options);
  }

  async usage(instanceId: string): Promise<InstanceUsage | undefined> {
    return this.#of(instanceId).usage(instanceId);
  }

  async output(
    instanceId: string,
    options: { readonly since: number; readonly limit: number },
  ): Promise<readonly OutputLine[]> {
    return this.#of(instanceId).output(instanceId, options);
  }

  #of(instanceId: string): Omit<Runtime, "start"> {
    return runnableKindOf(instanceId) === "image" ? this.#images : this.#folders;
  }
}

function noneWhileAway(error: unknown): readonly Instance[] {
  if (isEngineAway(error)) return [];
  throw error;
}
