import { tarArchive } from "./tar_archive.ts";
import type { RunnableImage, RunRequest } from "../../../ports/services/runtime.ts";
import type { ServiceFile } from "../../../domain/services/service_spec.ts";
import type { EngineMount } from "./container_request.ts";
import type { DockerVolumes } from "./docker_volumes.ts";
import { type EngineApi, EngineRefusal } from "../engine/engine_api.ts";
import { LABEL } from "./labels.ts";
import type { OwnContainers } from "./own_containers.ts";

type ImageRequest = RunRequest<RunnableImage>;

/** What containers are given files with. */
export interface ContainerFilesOptions {
  readonly engine: EngineApi;
  readonly own: OwnContainers;
  readonly volumes: DockerVolumes;
  readonly labels: Readonly<Record<string, string>>;
}

/** How the files of one container get into it. */
export interface MountedFiles {
  readonly mounts: readonly EngineMount[];
  /** Those that are not mounted. */
  readonly others: readonly ServiceFile[];
  /** Removes them, of a container that came to nothing. */
  discard(): Promise<void>;
}

/** Where all files that are mounted are seen too; a volume that nothing uses could be pruned. */
const FOLDER = "/.slipway-files";

/**
 * Puts files into containers before their programs run: into its own layer, as long as that can be written to and nothing is mounted over
 * it, else each as a mount out of a volume that goes with the instance.
 */
export class ContainerFiles {
  readonly #options: ContainerFilesOptions;

  constructor(options: ContainerFilesOptions) {
    this.#options = options;
  }

  /** Makes what is to be mounted, beside these mounts; before the container is made. */
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

  /** Puts in what is not mounted; between the container was made and is started. */
  async put(containerId: string, { others }: Pick<MountedFiles, "others">): Promise<void> {
    if (others.length > 0) await this.#archive(containerId, "/", others);
  }

  /** Removes what was mounted into an instance that is gone, and what a server left that was killed while it made it. */
  async forget(instanceId: string): Promise<void> {
    const made = await this.#options.volumes.labelled({ [LABEL.files]: instanceId });
    for (const { Name } of made) await this.#drop(Name);
  }

  /** Removes what is that old and was made for instances that are not there: a server was killed before it made one, and the next try has another id. */
  async sweep(olderThanMs: number): Promise<void> {
    const { own, volumes } = this.#options;
    const old = (await volumes.labelled()).filter(
      ({ CreatedAt, Labels }) => Labels?.[LABEL.files] && Date.now() - Date.parse(CreatedAt) > olderThanMs,
    );
    if (old.length === 0) return;
    const there = new Set((await own.list()).map(({ Labels }) => Labels[LABEL.instance]));
    for (const { Name, Labels } of old) if (!there.has(Labels![LABEL.files])) await this.#drop(Name);
  }

  /** Removes a volume with the container that fills it. */
  async #drop(volume: string): Promise<void> {
    await this.#options.own.remove(volume);
    await this.#options.volumes.discard(volume);
  }

  /** Only through a container can a volume be written to; this one is never started. */
  async #fill(volume: string, image: string, files: readonly ServiceFile[]): Promise<void> {
    const { engine, own, labels } = this.#options;
    const made = await engine.json<{ readonly Id: string }>("POST", "/containers/create", {
      query: { name: volume },
      json: {
        Image: image,
        Cmd: ["/"],
        Labels: own.labelled({ ...labels, [LABEL.instance]: "" }),
        HostConfig: { Mounts: [{ Type: "volume", Source: volume, Target: FOLDER }], NetworkMode: "none" },
      },
    });
    try {
      const numbered = files.map((file, index) => ({ ...file, target: `${index}` }));
      await this.#archive(made.Id, FOLDER, numbered);
    } finally {
      await own.remove(made.Id);
    }
  }

  async #archive(containerId: string, path: string, files: readonly ServiceFile[]): Promise<void> {
    const { engine } = this.#options;
    const body = tarArchive(files);
    const headers = { "content-type": "application/x-tar" };
    try {
      await engine.request("PUT", `/containers/${containerId}/archive`, { query: { path }, body, headers });
    } catch (error) {
      // The engine says not found of a path too, and would be taken to speak of the image.
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
