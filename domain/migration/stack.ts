import type { DeclaredService } from "../compose/declared_services.ts";
import type { FoundContainer, FoundNetwork, Inventory } from "./inventory.ts";

/** What runs on a server, ordered for a person. */
export interface Stack {
  readonly runtime: Inventory["runtime"];
  readonly composeProjects: readonly StackProject[];
  /** Containers of no compose project. */
  readonly containers: readonly StackService[];
  readonly volumes: readonly StackVolume[];
  readonly networks: readonly Pick<FoundNetwork, "name" | "driver">[];
  /** One sentence for everything odd, or that cannot be adopted as it is. */
  readonly warnings: readonly string[];
  /** Containers that Slipway started, of this installation or another one, or that it has adopted. */
  readonly managed: readonly ManagedContainer[];
}

/** A container that Slipway runs already. */
export interface ManagedContainer {
  readonly container: FoundContainer;
  /** What it would be named by, to adopt it. */
  readonly key: string;
  /** The project that has adopted it; `null` for one that Slipway itself started. */
  readonly holder: ContainerHolder | null;
}

/** The project that has adopted a container, with the service that it became. */
export interface ContainerHolder {
  readonly projectId: string;
  readonly projectName: string;
  readonly service: string;
}

/** The adopted containers of a server, by container id. */
export type HeldContainers = ReadonlyMap<string, ContainerHolder>;

export interface StackProject {
  readonly name: string;
  readonly configFiles: readonly string[];
  readonly workingDir: string | null;
  readonly services: readonly StackService[];
}

/** A service of a compose project, or a single container. */
export interface StackService {
  /** Identifies it on the server: `project/service`, or the name of the container. */
  readonly key: string;
  readonly name: string;
  readonly source: "compose" | "container";
  readonly project: string | null;
  /** All of its containers; none if it is only declared. */
  readonly containers: readonly FoundContainer[];
  /** The folder that it is built from, if the compose files say so. */
  readonly build: string | null;
  readonly dependsOn: readonly string[];
  readonly drift: readonly string[];
  /** The other software that looks after it, such as `Coolify`. */
  readonly managedBy: string | null;
}

export interface StackVolume {
  readonly name: string;
  readonly driver: string;
  /** Keys of the services that mount it. */
  readonly usedBy: readonly string[];
}

/** What the compose files of a project say. */
export interface ProjectFiles {
  /** By name; empty if the files cannot be read. */
  readonly services: ReadonlyMap<string, DeclaredService>;
  /** Sentences about files that cannot be read or understood. */
  readonly warnings: readonly string[];
  /** Whether the files were read, so that a service that they lack is known to be missing. */
  readonly isComplete: boolean;
}

/** Returns all services of a stack, whatever they belong to. */
export function servicesIn({ composeProjects, containers }: Stack): readonly StackService[] {
  return [...composeProjects.flatMap(({ services }) => services), ...containers];
}
