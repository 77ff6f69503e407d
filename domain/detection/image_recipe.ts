/**
 * How a project is put into an image: built in one stage, run in a second, smaller one. Names of images are those of Docker Hub; the
 * operator's map of base images may lead them elsewhere. Install and build commands are not part of it: a person may set them.
 */
export interface ImageRecipe {
  /** Where it is installed and built: `node:22-bookworm-slim`. */
  readonly buildImage: string;
  /** Where it runs; the same image where no smaller one is enough. */
  readonly runImage: string;
  /** Debian packages that the stages need and their images lack. */
  readonly buildPackages: readonly string[];
  readonly runPackages: readonly string[];
  /** Commands that make the tools ready, whatever the project holds: `corepack enable`; in the stages named. */
  readonly setup: readonly { readonly command: string; readonly stages: readonly ("build" | "run")[] }[];
  /**
   * The files that the install command reads, relative to the context; their layer is reused while they stay the same. Empty when
   * installing needs all files.
   */
  readonly manifests: readonly string[];
  /** Absolute folders in which package managers and compilers keep what they can use again. */
  readonly caches: readonly string[];
  /** Variables of both stages. */
  readonly environment: Readonly<Record<string, string>>;
  /** Variables of the final stage alone, such as one that tells package managers to leave out what is needed to build. */
  readonly runEnvironment: Readonly<Record<string, string>>;
  /** What starts the project in the image, where that has a better server than a machine; `null` when it is started as everywhere. */
  readonly startCommand: string | null;
  /** What goes into the final image, relative to the context like the manifests, where it keeps its place; `.` is all of it. Absolute paths are taken as they are. */
  readonly keep: readonly string[];
  /** Whether the whole repository is needed although the project lies in a folder of it, as in workspaces; else that folder is the context. */
  readonly wholeRepository: boolean;
}

/** A recipe of one image for both stages, with everything kept; for ecosystems to start from. */
export function recipe(image: string, more: Partial<ImageRecipe> = {}): ImageRecipe {
  return {
    buildImage: image,
    runImage: image,
    buildPackages: [],
    runPackages: [],
    setup: [],
    manifests: [],
    caches: [],
    environment: {},
    runEnvironment: {},
    startCommand: null,
    keep: ["."],
    wholeRepository: false,
    ...more,
  };
}
