import type { ManagedServer } from "./managed_server.ts";

/** A compose project on a server. */
export interface ComposePlace {
  readonly project: string;
  readonly folder: string;
  /** Absolute paths, in the order of `-f`. */
  readonly files: readonly string[];
}

/** A container of a compose project. */
export interface ComposeContainer extends ComposePlace {
  readonly service: string;
  /** Defaults to 1. */
  readonly number?: number;
  /** The value of `container_name`. */
  readonly containerName?: string;
  readonly dependsOn?: readonly string[];
  /** Whether `docker compose run` has made it. */
  readonly isOneOff?: boolean;
}

/** The labels that Docker Compose v2 gives a container. */
export function composeLabels(container: ComposeContainer): Readonly<Record<string, string>> {
  const { dependsOn = [], files, folder, isOneOff = false, number = 1, project, service } = container;
  const labels = {
    "config-hash": new Bun.CryptoHasher("sha256").update(`${project} ${service}`).digest("hex"),
    "container-number": `${number}`,
    depends_on: dependsOn.map((name) => `${name}:service_started:false`).join(","),
    oneoff: isOneOff ? "True" : "False",
    project,
    "project.config_files": files.join(","),
    "project.working_dir": folder,
    service,
    version: "2.29.7",
  };
  return Object.fromEntries(Object.entries(labels).map(([name, value]) => [`com.docker.compose.${name}`, value]));
}

/** The name that Docker Compose v2 gives a container. */
export function composeName({ containerName, number = 1, project, service }: ComposeContainer): string {
  return containerName ?? `${project}-${service}-${number}`;
}

/** Arguments of `docker run` and `docker create` that make a container as Docker Compose v2 does. */
export function composeWords(container: ComposeContainer): readonly string[] {
  const { project, service } = container;
  const labels = Object.entries(composeLabels(container)).flatMap(([name, value]) => ["--label", `${name}=${value}`]);
  const own = ["--name", composeName(container), "--network", `${project}_default`, "--network-alias", service];
  return [...own, ...labels];
}

/** Makes the default network of a project as Docker Compose v2 does. */
export async function composeNetwork(server: ManagedServer, project: string): Promise<void> {
  const labels = [`com.docker.compose.project=${project}`, "com.docker.compose.network=default"];
  await server.docker(["network", "create", ...labels.flatMap((label) => ["--label", label]), `${project}_default`]);
}

/** Writes a file of root on a server, with its folders. */
export async function writeRemote(server: ManagedServer, path: string, text: string): Promise<void> {
  const script = 'mkdir -p "$(dirname "$1")" && cat >"$1"';
  await server.exec(["sh", "-c", script, "sh", path], { input: Buffer.from(text) });
}
