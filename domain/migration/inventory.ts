import type { Secret } from "../secret.ts";

/** What a container engine has: all containers in any state, with the images, volumes and networks. */
export interface Inventory {
  readonly runtime: { readonly name: string; readonly version: string };
  readonly containers: readonly FoundContainer[];
  readonly volumes: readonly FoundVolume[];
  readonly networks: readonly FoundNetwork[];
  /** Containers that are listed but could not be read, with the reason. */
  readonly unread: readonly { readonly name: string; readonly reason: string }[];
}

/** The states of a container. */
export const CONTAINER_STATES = [
  "created",
  "running",
  "paused",
  "restarting",
  "removing",
  "exited",
  "dead",
  "unknown",
] as const;

export type ContainerState = (typeof CONTAINER_STATES)[number];

/** A container as its engine reports it. */
export interface FoundContainer {
  readonly id: string;
  /** Without the slash that engines put before it. */
  readonly name: string;
  readonly state: ContainerState;
  readonly exitCode: number | null;
  readonly startedAt: string | null;
  readonly restarts: number;
  /** The image as it was named when the container was created. */
  readonly image: string;
  readonly imageId: string;
  /** The image as it is now; `null` if the engine no longer has it. */
  readonly imageFacts: FoundImage | null;
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
  readonly environment: ReadonlyMap<string, Secret>;
  readonly labels: Readonly<Record<string, string>>;
  readonly ports: readonly FoundPort[];
  readonly mounts: readonly FoundMount[];
  readonly networks: readonly FoundAttachment[];
  /** `host`, `none`, `container:…`, or the first network. */
  readonly networkMode: string;
  /** `no`, `always`, `unless-stopped`, `on-failure` or `on-failure:3`. */
  readonly restart: string;
  readonly healthcheck: FoundHealth | null;
  readonly limits: { readonly memoryBytes: number | null; readonly cpus: number | null };
  /** Whether the engine removes it when it ends. */
  readonly removedAtEnd: boolean;
  /** Names of what it may do beyond an ordinary container, such as `privileged`. */
  readonly privileges: readonly string[];
  /**
   * Everything needed to create the same container again, except its image and environment, as text that only the
   * adapter for this kind of engine can read. May contain secrets.
   */
  readonly recipe: Secret;
}

/** What an image brings along. */
export interface FoundImage {
  readonly id: string;
  readonly tags: readonly string[];
  /** References by digest, under which registries know it. */
  readonly digests: readonly string[];
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
  readonly environment: ReadonlyMap<string, Secret>;
  readonly labels: Readonly<Record<string, string>>;
  /** `true` if the image itself defines a health check. */
  readonly hasHealthcheck: boolean;
  /** Paths that it declares as volumes. */
  readonly volumes: readonly string[];
  /** Ports that it declares, such as `80/tcp`. */
  readonly ports: readonly string[];
}

/** A port of a container. */
export interface FoundPort {
  readonly port: number;
  readonly protocol: string;
  /** The address and port of the server that it is published on; `null` if it is only declared. */
  readonly published: { readonly address: string; readonly port: number | null } | null;
}

/** Something mounted into a container. */
export interface FoundMount {
  readonly type: "volume" | "bind" | "tmpfs" | "other";
  /** The name of the volume or the path on the server; empty for memory. */
  readonly source: string;
  readonly target: string;
  readonly readOnly: boolean;
  /** Whether the engine itself named the volume. */
  readonly anonymous: boolean;
}

/** The membership of a container in a network. */
export interface FoundAttachment {
  readonly name: string;
  readonly aliases: readonly string[];
  /** Addresses that were requested, not those that the engine chose. */
  readonly addresses: readonly string[];
}

/** The health check of a container. Times are in milliseconds; `null` is the default. */
export interface FoundHealth {
  /** `["NONE"]`, or `CMD` or `CMD-SHELL` and the words after it. */
  readonly test: readonly string[];
  readonly intervalMs: number | null;
  readonly timeoutMs: number | null;
  readonly startPeriodMs: number | null;
  readonly retries: number | null;
}

export interface FoundVolume {
  readonly name: string;
  readonly driver: string;
  readonly labels: Readonly<Record<string, string>>;
}

export interface FoundNetwork {
  readonly name: string;
  readonly driver: string;
  readonly labels: Readonly<Record<string, string>>;
}
