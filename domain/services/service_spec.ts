/** One service as it is to be built and run: everything is written out, no reference, variable or default is left. */
export interface ServiceSpec {
  readonly name: string;
  readonly from: ServiceOrigin;
  readonly environment: Readonly<Record<string, string>>;
  /** Variables of the project that it names without a value: they have to be there whenever it is deployed. */
  readonly namedVariables?: readonly string[];
  /** The TCP ports inside that it says it listens on, the most important first; none for a worker. */
  readonly ports: readonly number[];
  readonly dependsOn: readonly ServiceDependency[];
  /** Ends by itself and is done then: a migration, say. */
  readonly oneShot: boolean;
  readonly container: ContainerSpec;
}

/** What a service is made from. */
export type ServiceOrigin =
  | { readonly kind: "image"; readonly reference: string; readonly pull: "missing" | "always" | "never" }
  | ServiceDockerfile
  | ServiceApp;

/** An image of its own, built from files of the project. */
export interface ServiceDockerfile {
  readonly kind: "dockerfile";
  /** The folder that its build sees, inside the source; empty for the whole. */
  readonly context: string;
  /** Relative to the context; `null` is `Dockerfile`. */
  readonly dockerfile: string | null;
  /** The text of one that is written out where the service is. */
  readonly text: string | null;
  readonly target: string | null;
  readonly args: Readonly<Record<string, string>>;
}

/** A part of the project that is recognised, built and started as a project of its own would be; `null` is to be detected. */
export interface ServiceApp {
  readonly kind: "app";
  /** Inside the source; empty for the whole. */
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

/** What a service waits for before it is started. */
export interface ServiceDependency {
  readonly service: string;
  readonly condition: DependencyCondition;
  /** Whether it is to be started anew when that one is replaced. */
  readonly restart: boolean;
  /** Whether it cannot be without it. */
  readonly required: boolean;
}

/** How a container differs from what its image says; `null` leaves it as the image has it. */
export interface ContainerSpec {
  readonly entrypoint: readonly string[] | null;
  /** The arguments of the entry point; what is run, where there is none. */
  readonly command: readonly string[] | null;
  readonly workingDir: string | null;
  readonly user: string | null;
  readonly mounts: readonly ServiceMount[];
  readonly files: readonly ServiceFile[];
  /** `"none"` switches off what the image brings. */
  readonly healthcheck: ServiceHealth | "none" | null;
  /** Names that others find it by beside that of its service. */
  readonly aliases: readonly string[];
  readonly hostname: string | null;
  readonly labels: Readonly<Record<string, string>>;
  /** Names with addresses that only it is told, `host:address`. */
  readonly extraHosts: readonly string[];
  readonly stopSignal: string | null;
  readonly stopGraceMs: number | null;
  readonly init: boolean | null;
  readonly readOnly: boolean;
  /** Of the capabilities that every container gets, those that it does not. */
  readonly dropCapabilities: readonly string[];
  readonly limits: ServiceLimits;
}

export interface ServiceLimits {
  readonly cpus: number | null;
  readonly memoryBytes: number | null;
  readonly processes: number | null;
  readonly sharedMemoryBytes: number | null;
  readonly openFiles: { readonly soft: number; readonly hard: number } | null;
}

/** Something that is seen inside at a path. */
export type ServiceMount =
  /** Kept by the project across releases; without a name it is the service's own, at that place. */
  | {
      readonly kind: "volume";
      readonly name: string | null;
      /** The engine's own name of a volume that was there before; it is used as it is. */
      readonly external: boolean;
      readonly target: string;
      readonly readOnly: boolean;
    }
  /** A file or folder of the source, inside it; where the source has none it is kept by the project, as a volume is. */
  | { readonly kind: "source"; readonly path: string; readonly target: string; readonly readOnly: boolean }
  /** A file or folder of the machine. */
  | { readonly kind: "host"; readonly path: string; readonly target: string; readonly readOnly: boolean }
  | { readonly kind: "memory"; readonly target: string; readonly bytes: number | null };

/** A small file that is put into the container: a config or a secret. */
export interface ServiceFile {
  readonly target: string;
  readonly content: string;
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
}

/** How the engine asks a container whether it is well. */
export interface ServiceHealth {
  /** A command, or one line for a shell; `null` is what the image has. */
  readonly test: readonly string[] | { readonly shell: string } | null;
  readonly intervalMs: number | null;
  readonly timeoutMs: number | null;
  readonly retries: number | null;
  readonly startPeriodMs: number | null;
}

/** A container that is as its image says. */
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
