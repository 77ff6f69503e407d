import { tarArchive } from "./tar_archive.ts";
import type { RunnableImage, RunRequest } from "../../../ports/services/runtime.ts";
import type { ServiceFile } from "../../../domain/services/service_spec.ts";
import type { EngineMount } from "./container_request.ts";
import type { DockerVolumes } from "./docker_volumes.ts";
import { createContainer } from "../engine/containers.ts";
import { type EngineApi, EngineRefusal } from "../engine/engine_api.ts";
import { LABEL } from "./labels.ts";
import type { OwnContainers } from "./own_containers.ts";

type ImageRequest = RunRequest<RunnableImage>;

/** The dependencies of `ContainerFiles`. */
export interface ContainerFilesOptions {
  readonly engine: EngineApi;
  readonly own: OwnContainers;
  readonly volumes: DockerVolumes;
  readonly labels: Readonly<Record<string, string>>;
}

/** How the files of one container get into it. */
export interface MountedFiles {
  readonly mounts: readonly EngineMount[];
  /** Files that are not mounted. */
  readonly others: readonly ServiceFile[];
  /** Removes the mounted files of a container that failed to start. */
  discard(): Promise<void>;
}

/** Where the volume with all mounted files is mounted as a whole; an unused volume could be pruned. */
const FOLDER = "/.slipway-files";

/**
 * Puts files into containers before their programs run: into the container's own layer if that is writable and nothing
 * is mounted over it, else each as a mount from a volume that is removed with the instance.
 */
export class ContainerFiles {
  readonly #options: ContainerFilesOptions;

  constructor(options: ContainerFilesOptions) {
    this.#options = options;
  }

  /** Prepares the file mounts in addition to `besides`; called before the container is created. */
  async mounted({ instanceId, runs }: ImageRequest, besides: readonly EngineMount[]): Promise<MountedFiles> {
    const { files: all = [], readOnly = false } = runs.container ?? {};
    const files = all.filter(({ target }) => readOnly || besides.some(({ Target }) => isBelow(target, Target)));
    const others = all.filter((file) => !files.includes(file));
    if (files.length === 0) return { mounts: [], others, async discard() {} };
    const { volumes, own } = this.#options;
    const name = `${own.prefix}files-${crypto.randomUUID()}`;
    const discard = () => volumes.discard(name);
    try {
      const { Mountpoint } = await volumes.make(name, { [LABEL.files]: instanceId });
      await this.#fill(name, runs.image, files);
      const single = files.map(({ target }, index) => mountOf("bind", `${Mountpoint}/${index}`, target));
      return { mounts: [mountOf("volume", name, FOLDER), ...single], others, discard };
    } catch (error) {
      await discard().catch(() => {});
      throw error;
    }
  }

  /** Writes the files that are not mounted; called after the container is created and before it is started. */
  async put(containerId: string, { others }: Pick<MountedFiles, "others">): Promise<void> {
    if (others.length > 0) await this.#archive(containerId, "/", others);
  }

  /**
   * Removes the file volumes of a removed instance, including those left by a server that was killed while creating
   * them.
   */
  async forget(instanceId: string): Promise<void> {
    const made = await this.#options.volumes.labelled({ [LABEL.files]: instanceId });
    for (const { Name } of made) await this.#drop(Name);
  }

  /**
   * Removes file volumes older than `olderThanMs` whose instance does not exist: a server was killed before it created
   * the instance, and the retry has another id.
   */
  async sweep(olderThanMs: number): Promise<void> {
    const { own, volumes } = this.#options;
    const old = (await volumes.labelled()).filter(
      ({ CreatedAt, Labels }) => Labels?.[LABEL.files] && Date.now() - Date.parse(CreatedAt) > olderThanMs,
    );
    if (old.length === 0) return;
    const there = new Set((await own.list()).map(({ Labels }) => Labels[LABEL.instance]));
    for (const { Name, Labels } of old) if (!there.has(Labels![LABEL.files])) await this.#drop(Name);
  }

  /** Removes a volume and the container that fills it. */
  async #drop(volume: string): Promise<void> {
    await this.#options.own.remove(volume);
    await this.#options.volumes.discard(volume);
  }

  /** Writes files into a volume. That requires a container; this one is never started. */
  async #fill(volume: string, image: string, files: readonly ServiceFile[]): Promise<void> {
    const { engine, own, labels } = this.#options;
    const id = await createContainer(engine, volume, {
      Image: image,
      Cmd: ["/"],
      Labels: own.labelled({ ...labels, [LABEL.instance]: "" }),
      HostConfig: { Mounts: [{ Type: "volume", Source: volume, Target: FOLDER }], NetworkMode: "none" },
    });
    try {
      const numbered = files.map((file, index) => ({ ...file, target: `${index}` }));
      await this.#archive(id, FOLDER, numbered);
    } finally {
      await own.remove(id);
    }
  }

  async #archive(containerId: string, path: string, files: readonly ServiceFile[]): Promise<void> {
    const { engine } = this.#options;
    const body = tarArchive(files);
    const headers = { "content-type": "application/x-tar" };
    try {
      await engine.request("PUT", `/containers/${containerId}/archive`, { query: { path }, body, headers });
    } catch (error) {
      // The engine returns 404 for a missing path too, which callers would take for a missing image.
      throw error instanceof EngineRefusal && error.status === 404 ? new EngineRefusal(400, error.message) : error;
    }
  }
}

function isBelow(path: string, folder: string): boolean {
  return path.startsWith(`${folder.replace(/\/+$/, "")}/`);
}

function mountOf(Type: EngineMount["Type"], Source: string, Target: string): EngineMount {
  return { Type, Source, Target, ReadOnly: true };
}
