import { normalPath } from "../services/normal_path.ts";
import type { FoundContainer } from "./inventory.ts";

/** The containers of a compose project, and where its files are. */
export interface ComposeGroup {
  readonly name: string;
  readonly workingDir: string | null;
  /** Absolute paths, in the order in which they are merged. */
  readonly configFiles: readonly string[];
  /** Absolute paths of the files with variables that were named; `null` for the usual one. */
  readonly variableFiles: readonly string[] | null;
  /** By service, each in the order of its containers. */
  readonly services: ReadonlyMap<string, readonly FoundContainer[]>;
}

const LABEL = {
  project: "com.docker.compose.project",
  service: "com.docker.compose.service",
  number: "com.docker.compose.container-number",
  oneOff: "com.docker.compose.oneoff",
  configFiles: "com.docker.compose.project.config_files",
  workingDir: "com.docker.compose.project.working_dir",
  variableFiles: "com.docker.compose.project.environment_file",
  dependsOn: "com.docker.compose.depends_on",
} as const;

/** Divides containers into those of compose projects, sorted by name, and all others. */
export function composeGroups(containers: readonly FoundContainer[]): {
  readonly groups: readonly ComposeGroup[];
  readonly others: readonly FoundContainer[];
} {
  const byProject = new Map<string, FoundContainer[]>();
  const others: FoundContainer[] = [];
  for (const container of containers) {
    const project = projectOf(container);
    if (project === null) others.push(container);
    else byProject.set(project, [...(byProject.get(project) ?? []), container]);
  }
  const names = [...byProject.keys()].toSorted();
  return { groups: names.map((name) => groupOf(name, byProject.get(name)!)), others };
}

/** Returns whether a container was started by hand as an additional one of a compose service (`docker compose run`). */
export function isOneOff({ labels }: FoundContainer): boolean {
  return labels[LABEL.oneOff]?.toLowerCase() === "true";
}

/** Returns the services that a container of a compose service waits for, as it was started. */
export function dependenciesOf({ labels }: FoundContainer): readonly string[] {
  const entries = (labels[LABEL.dependsOn] ?? "").split(",");
  return entries.map((entry) => entry.split(":")[0]!.trim()).filter((name) => name !== "");
}

/** Returns what identifies the service of a container on its server: `project/service`, or the container's name. */
export function keyOf(container: FoundContainer): string {
  const project = projectOf(container);
  return project === null ? container.name : `${project}/${container.labels[LABEL.service]}`;
}

function projectOf(container: FoundContainer): string | null {
  const { [LABEL.project]: project = "", [LABEL.service]: service = "" } = container.labels;
  return project === "" || service === "" || isOneOff(container) ? null : project;
}

function groupOf(name: string, containers: readonly FoundContainer[]): ComposeGroup {
  // The container that was started last knows the files that are used now.
  const facts = containers
    .toSorted((a, b) => ((a.startedAt ?? "") < (b.startedAt ?? "") ? 1 : -1))
    .map(({ labels }) => labels);
  const first = facts.find((labels) => labels[LABEL.configFiles]) ?? facts[0] ?? {};
  const workingDir = absolute(first[LABEL.workingDir], null);
  const services = new Map<string, FoundContainer[]>();
  for (const container of containers) {
    const service = container.labels[LABEL.service]!;
    services.set(service, [...(services.get(service) ?? []), container]);
  }
  const sorted = [...services].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const variableFiles = first[LABEL.variableFiles];
  return {
    name,
    workingDir,
    configFiles: paths(first[LABEL.configFiles], workingDir),
    variableFiles: variableFiles ? paths(variableFiles, workingDir) : null,
    services: new Map(sorted.map(([service, all]) => [service, all.toSorted(byNumber)])),
  };
}

function paths(list: string | undefined, folder: string | null): readonly string[] {
  return (list ?? "").split(",").flatMap((path) => absolute(path.trim(), folder) ?? []);
}

function absolute(path: string | undefined, folder: string | null): string | null {
  if (!path || path.includes("\0")) return null;
  if (path.startsWith("/")) return normalPath(path) ?? null;
  return folder === null ? null : (normalPath(`${folder}/${path}`) ?? null);
}

function byNumber(a: FoundContainer, b: FoundContainer): number {
  return numberOf(a) - numberOf(b) || (a.name < b.name ? -1 : 1);
}

function numberOf({ labels }: FoundContainer): number {
  return Number(labels[LABEL.number]) || 0;
}
