import { tarArchive } from "./tar_archive.ts";
import type { RunnableImage, RunRequest } from "../../ports/runtime.ts";
import type { ServiceFile } from "../../domain/composition/service_spec.ts";
import type { EngineMount } from "./container_request.ts";
import type { DockerVolumes } from "./docker_volumes.ts";
import { type EngineApi, EngineRefusal } from "./engine_api.ts";
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

/** Files of one container that are mounted. */
export interface MountedFiles {
  readonly mounts: readonly EngineMount[];
  /** Removes them, of a container that came to nothing. */
  discard(): Promise<void>;
}

/** Where all files that are mounted are seen too; a volume that nothing uses could be pruned. */
const FOLDER = "/.slipway-files";
const NONE: MountedFiles = { mounts: [], async discard() {} };

/**
 * Puts files into containers before their programs run: into its own layer, as long as that can be written to and nothing is mounted over
 * it, else each as a mount out of a volume that goes with the instance.
 */
export class ContainerFiles {
  readonly #options: ContainerFilesOptions;

  constructor(options: ContainerFilesOptions) {
    this.#options = options;
  }

  /** Makes what is to be mounted; before the container is made. */
  async mounted(request: ImageRequest): Promise<MountedFiles> {
    const files = filesOf(request).filter((file) => isMounted(file, request));
    if (files.length === 0) return NONE;
    const { volumes, own } = this.#options;
    const name = `${own.prefix}files-${crypto.randomUUID()}`;
    const discard = () => volumes.discard(name);
    try {
      const { Mountpoint } = await volumes.make(name, { [LABEL.files]: request.instanceId });
      await this.#fill(name, request.runs.image, files);
      const single = files.map(({ target }, index) => mountOf("bind", `${Mountpoint}/${index}`, target));
      return { mounts: [mountOf("volume", name, FOLDER), ...single], discard };
    } catch (error) {
      await discard().catch(() => {});
      throw error;
    }
  }

  /** Puts in what is not mounted; between the container was made and is started. */
  async put(containerId: string, request: ImageRequest): Promise<void> {
    const files = filesOf(request).filter((file) => !isMounted(file, request));
    if (files.length > 0) await this.#archive(containerId, "/", files);
  }

  /** Removes what was mounted into an instance that is gone, and what a server left that was killed while it made it. */
  async forget(instanceId: string): Promise<void> {
    const { own, volumes } = this.#options;
    for (const { Name } of await volumes.labelled({ [LABEL.files]: instanceId })) {
      await own.remove(Name);
      await volumes.discard(Name);
    }
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

function filesOf({ runs }: ImageRequest): readonly ServiceFile[] {
  return runs.container?.files ?? [];
}

/** Whether the file cannot be in the container's own layer. */
function isMounted({ target }: ServiceFile, { runs }: ImageRequest): boolean {
  if (runs.container?.readOnly) return true;
  return (runs.mounts ?? []).some((mount) => target.startsWith(`${mount.target.replace(/\/+$/, "")}/`));
}

function mountOf(Type: EngineMount["Type"], Source: string, Target: string): EngineMount {
  return { Type, Source, Target, ReadOnly: true };
}
