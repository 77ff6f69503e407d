/**
 * How to build a project into an image: one stage builds it, a second, smaller one runs it. Image names are those of
 * Docker Hub; the operator's map of base images may redirect them. Install and build commands are not included, as the
 * user may set them.
 */
export interface ImageRecipe {
  /** The image that it is installed and built in: `node:22-bookworm-slim`. */
  readonly buildImage: string;
  /** The image that it runs in; the same one where no smaller one suffices. */
  readonly runImage: string;
  /** Debian packages that the stages need and their images lack. */
  readonly buildPackages: readonly string[];
  readonly runPackages: readonly string[];
  /** Commands that set up tools in the given stages, independent of the project's files: `corepack enable`. */
  readonly setup: readonly { readonly command: string; readonly stages: readonly ("build" | "run")[] }[];
  /**
   * The files that the install command reads, relative to the context; the install layer is cached while they are
   * unchanged. Empty when installing needs all files.
   */
  readonly manifests: readonly string[];
  /** Absolute cache folders of package managers and compilers. */
  readonly caches: readonly string[];
  /** Environment variables of both stages. */
  readonly environment: Readonly<Record<string, string>>;
  /**
   * Environment variables of the final stage alone, such as one that makes package managers omit build dependencies.
   */
  readonly runEnvironment: Readonly<Record<string, string>>;
  /**
   * The start command in the image, where that has a better server than a plain process; `null` to use the detected
   * one.
   */
  readonly startCommand: string | null;
  /**
   * The paths copied into the final image, at the same place and relative to the context like `manifests`; `.` is all
   * of it. Absolute paths are used unchanged.
   */
  readonly keep: readonly string[];
  /** Whether the build context is the whole repository, as in workspaces, and not just the project's folder. */
  readonly wholeRepository: boolean;
}

/** Creates a recipe with one image for both stages that keeps all files, as a base for ecosystems. */
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
