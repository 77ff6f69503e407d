/** The fully resolved spec of a service to build and run: no references, variables or defaults are left. */
export interface ServiceSpec {
  readonly name: string;
  readonly from: ServiceOrigin;
  readonly environment: Readonly<Record<string, string>>;
  /** Variables of the project that it names without a value; they must exist whenever it is deployed. */
  readonly namedVariables?: readonly string[];
  /** The TCP ports that it declares to listen on inside the container, the main one first; none for a worker. */
  readonly ports: readonly number[];
  readonly dependsOn: readonly ServiceDependency[];
  /** Whether it exits by itself and is then done, such as a migration. */
  readonly oneShot: boolean;
  readonly container: ContainerSpec;
}

/** What a service is built from. */
export type ServiceOrigin =
  | { readonly kind: "image"; readonly reference: string; readonly pull: "missing" | "always" | "never" }
  | ServiceDockerfile
  | ServiceApp;

/** An image built from files of the project. */
export interface ServiceDockerfile {
  readonly kind: "dockerfile";
  /** The build context, a folder inside the source; empty for the whole source. */
  readonly context: string;
  /** Relative to the context; `null` is `Dockerfile`. */
  readonly dockerfile: string | null;
  /** The text of an inline Dockerfile. */
  readonly text: string | null;
  readonly target: string | null;
  readonly args: Readonly<Record<string, string>>;
}

/** A part of the project that is detected, built and started like a project of its own; `null` fields are detected. */
export interface ServiceApp {
  readonly kind: "app";
  /** Folder inside the source; empty for the whole source. */
  readonly rootDirectory: string;
  readonly framework: string | null;
  readonly packageManager: string | null;
  readonly installCommand: string | null;
  readonly buildCommand: string | null;
  readonly startCommand: string | null;
  readonly outputDirectory: string | null;
}

export const DEPENDENCY_CONDITIONS = ["service_started", "service_healthy", "service_completed_successfully"] as const;

export type DependencyCondition = (typeof DEPENDENCY_CONDITIONS)[number];

/** A service that must reach a condition before this one starts. */
export interface ServiceDependency {
  readonly service: string;
  readonly condition: DependencyCondition;
  /** Whether to restart this service when the dependency is replaced. */
  readonly restart: boolean;
  /** Whether the service cannot run without the dependency. */
  readonly required: boolean;
}

/** How a container differs from its image; `null` keeps what the image defines. */
export interface ContainerSpec {
  readonly entrypoint: readonly string[] | null;
  /** The arguments of the entrypoint, or the command itself if there is none. */
  readonly command: readonly string[] | null;
  readonly workingDir: string | null;
  readonly user: string | null;
  readonly mounts: readonly ServiceMount[];
  readonly files: readonly ServiceFile[];
  /** `"none"` disables the health check of the image. */
  readonly healthcheck: ServiceHealth | "none" | null;
  /** Additional host names by which other services reach it. */
  readonly aliases: readonly string[];
  readonly hostname: string | null;
  readonly labels: Readonly<Record<string, string>>;
  /** Host entries for this container only, `host:address`. */
  readonly extraHosts: readonly string[];
  readonly stopSignal: string | null;
  readonly stopGraceMs: number | null;
  readonly init: boolean | null;
  readonly readOnly: boolean;
  /** The default capabilities that this container does not get. */
  readonly dropCapabilities: readonly string[];
  readonly limits: ServiceLimits;
  /** How the container was made that the service was adopted from; everything set above takes precedence. */
  readonly recipe?: AdoptedRecipe;
}

/** The recipe of an adopted container. */
export interface AdoptedRecipe {
  /** Text that only the adapter for its kind of engine can read. */
  readonly text: string;
  /** The parts of it that the service no longer follows, because its definition was changed since. */
  readonly without: readonly RecipePart[];
  /** The ports that are published instead of those of the recipe, as in compose files. */
  readonly ports?: readonly string[];
}

export const RECIPE_PARTS = [
  "command",
  "entrypoint",
  "healthcheck",
  "ports",
  "resources",
  "restart",
  "volumes",
] as const;

export type RecipePart = (typeof RECIPE_PARTS)[number];

export interface ServiceLimits {
  readonly cpus: number | null;
  readonly memoryBytes: number | null;
  readonly processes: number | null;
  readonly sharedMemoryBytes: number | null;
  readonly openFiles: { readonly soft: number; readonly hard: number } | null;
}

/** Something mounted into the container at a path. */
export type ServiceMount =
  /** Kept by the project across releases; an unnamed one belongs to the service and target path. */
  | {
      readonly kind: "volume";
      readonly name: string | null;
      /** Whether `name` is the engine's own name of an existing volume, which is used unchanged. */
      readonly external: boolean;
      readonly target: string;
      readonly readOnly: boolean;
      /** Whether the container that the service was adopted from has it: then it is not asked for again. */
      readonly adopted?: true;
    }
  /** A path inside the source; if the source does not have it, a volume of the project takes its place. */
  | { readonly kind: "source"; readonly path: string; readonly target: string; readonly readOnly: boolean }
  /** A file or folder of the host. */
  | {
      readonly kind: "host";
      readonly path: string;
      readonly target: string;
      readonly readOnly: boolean;
      /** As for volumes. */
      readonly adopted?: true;
    }
  | { readonly kind: "memory"; readonly target: string; readonly bytes: number | null };

/** A small file placed into the container: a config or a secret. */
export interface ServiceFile {
  readonly target: string;
  readonly content: string;
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
}

/** The health check of a container, run by the engine. */
export interface ServiceHealth {
  /** A command, or one line for a shell; `null` uses the test of the image. */
  readonly test: readonly string[] | { readonly shell: string } | null;
  readonly intervalMs: number | null;
  readonly timeoutMs: number | null;
  readonly retries: number | null;
  readonly startPeriodMs: number | null;
}

/** A container without any difference from its image. */
export const PLAIN_CONTAINER: ContainerSpec = {
  entrypoint: null,
  command: null,
  workingDir: null,
  user: null,
  mounts: [],
  files: [],
  healthcheck: null,
  aliases: [],
  hostname: null,
  labels: {},
  extraHosts: [],
  stopSignal: null,
  stopGraceMs: null,
  init: null,
  readOnly: false,
  dropCapabilities: [],
  limits: { cpus: null, memoryBytes: null, processes: null, sharedMemoryBytes: null, openFiles: null },
};
