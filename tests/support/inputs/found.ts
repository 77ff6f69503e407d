import type { FoundContainer, FoundImage, Inventory } from "../../../domain/migration/inventory.ts";
import { Secret } from "../../../domain/secret.ts";

/** What a found container is made of; everything has a default. Values of variables are plain texts. */
export type FoundInput = Partial<Omit<FoundContainer, "environment" | "recipe" | "imageFacts">> & {
  readonly environment?: Readonly<Record<string, string>>;
  readonly imageFacts?: FoundImage | null;
  readonly recipe?: string;
};

/** Returns an image that was pulled from a registry. */
export function foundImage(name = "nginx:1.27", facts: Partial<FoundImage> = {}): FoundImage {
  return {
    id: `sha256:${"1".repeat(64)}`,
    tags: [name],
    digests: [`${name.replace(/:[^/:]*$/, "")}@sha256:${"d".repeat(64)}`],
    entrypoint: [],
    command: ["serve"],
    environment: secrets({ PATH: "/bin" }),
    labels: {},
    hasHealthcheck: false,
    volumes: [],
    ports: [],
    ...facts,
  };
}

/** Returns a running container, without anything special unless given. Its id is derived from its name. */
export function found({ environment = {}, recipe = "{}", ...given }: FoundInput = {}): FoundContainer {
  const { name = "web", image = "nginx:1.27", imageFacts = foundImage(image) } = given;
  return {
    id: new Bun.CryptoHasher("sha256").update(name).digest("hex"),
    name,
    state: "running",
    exitCode: 0,
    startedAt: "2026-05-01T00:00:00Z",
    restarts: 0,
    image,
    imageId: `sha256:${"1".repeat(64)}`,
    entrypoint: [],
    command: imageFacts?.command ?? [],
    labels: {},
    ports: [],
    mounts: [],
    networks: [],
    networkMode: "bridge",
    restart: "no",
    healthcheck: null,
    limits: { memoryBytes: null, cpus: null },
    removedAtEnd: false,
    privileges: [],
    ...given,
    imageFacts,
    environment: secrets({ ...revealed(imageFacts?.environment), ...environment }),
    recipe: new Secret(recipe),
  };
}

/** Returns a container of a compose service. */
export function foundIn(project: string, service: string, { labels, ...given }: FoundInput = {}): FoundContainer {
  const folder = `/srv/${project}`;
  return found({
    name: `${project}-${service}-1`,
    ...given,
    labels: {
      "com.docker.compose.project": project,
      "com.docker.compose.service": service,
      "com.docker.compose.container-number": "1",
      "com.docker.compose.oneoff": "False",
      "com.docker.compose.project.working_dir": folder,
      "com.docker.compose.project.config_files": `${folder}/compose.yml`,
      ...labels,
    },
  });
}

/** Returns an inventory with these containers. */
export function inventoryOf(containers: readonly FoundContainer[], more: Partial<Inventory> = {}): Inventory {
  return {
    runtime: { name: "docker", version: "28.3.0" },
    containers,
    volumes: [],
    networks: [],
    unread: [],
    ...more,
  };
}

function secrets(values: Readonly<Record<string, string>>): ReadonlyMap<string, Secret> {
  return new Map(Object.entries(values).map(([key, value]) => [key, new Secret(value)]));
}

function revealed(values: ReadonlyMap<string, Secret> = new Map()): Record<string, string> {
  return Object.fromEntries([...values].map(([key, value]) => [key, value.reveal()]));
}
