import { type ComposeGroup, composeGroups, keyOf, dependenciesOf, isOneOff } from "./compose_group.ts";
import { driftOf, outdatedImage } from "./drift.ts";
import type { FoundContainer, Inventory } from "./inventory.ts";
import { isSlipways, managedBy } from "./panels.ts";
import { serviceWarnings } from "./service_warnings.ts";
import type { HeldContainers, ProjectFiles, Stack, StackProject, StackService, StackVolume } from "./stack.ts";

/** Orders an inventory, and compares the compose projects with their files. */
export function stackOf(
  inventory: Inventory,
  files: ReadonlyMap<string, ProjectFiles>,
  held: HeldContainers = new Map(),
): Stack {
  const isManaged = (container: FoundContainer) => isSlipways(container) || held.has(container.id);
  const managed = inventory.containers.filter(isManaged).map((container) => ({
    container,
    key: keyOf(container),
    holder: held.get(container.id) ?? null,
  }));
  const { groups, others } = composeGroups(inventory.containers.filter((container) => !isManaged(container)));
  const composeProjects = groups.map((group) => projectOf(group, files.get(group.name)));
  const containers = others.map(containerOf);
  const services = [...composeProjects.flatMap((project) => project.services), ...containers];
  return {
    runtime: inventory.runtime,
    composeProjects,
    containers,
    volumes: volumesOf(inventory, services),
    networks: inventory.networks.map(({ name, driver }) => ({ name, driver })).toSorted(byName),
    warnings: [
      ...groups.flatMap(({ name }) => files.get(name)?.warnings ?? []),
      ...services.flatMap(serviceWarnings),
      ...inventory.unread.map(({ name, reason }) => `Left out ${name}: the engine could not describe it (${reason})`),
    ],
    managed,
  };
}

/** Returns the compose projects that have something to adopt. */
export function adoptableGroups({ containers }: Inventory, held: HeldContainers): readonly ComposeGroup[] {
  return composeGroups(containers.filter((container) => !isSlipways(container) && !held.has(container.id))).groups;
}

function projectOf(group: ComposeGroup, files: ProjectFiles | undefined): StackProject {
  const { name, configFiles, workingDir } = group;
  const running = [...group.services].map(([service, containers]) => serviceOf(group, { service, containers, files }));
  const absent = [...(files?.services ?? [])]
    .filter(([service, { profiles }]) => !group.services.has(service) && profiles.length === 0)
    .map(([service]) => serviceOf(group, { service, containers: [], files }));
  return { name, configFiles, workingDir, services: [...running, ...absent].toSorted(byName) };
}

function serviceOf(
  { name: project }: ComposeGroup,
  {
    service,
    containers,
    files,
  }: {
    readonly service: string;
    readonly containers: readonly FoundContainer[];
    readonly files: ProjectFiles | undefined;
  },
): StackService {
  const declared = files?.services.get(service);
  const [first] = containers;
  const undeclared = files?.isComplete ? ["it runs, but the compose files do not declare it"] : [];
  return {
    key: `${project}/${service}`,
    name: service,
    source: "compose",
    project,
    containers,
    build: declared?.build ?? null,
    dependsOn: declared?.dependsOn ?? (first ? dependenciesOf(first) : []),
    drift: declared ? driftOf(containers, declared) : [...undeclared, ...(first ? outdatedImage(first) : [])],
    managedBy: first ? managedBy(first) : null,
  };
}

function containerOf(container: FoundContainer): StackService {
  return {
    key: container.name,
    name: container.name,
    source: "container",
    project: null,
    containers: [container],
    build: null,
    dependsOn: [],
    drift: [...(isOneOff(container) ? ["it was started by hand for one task"] : []), ...outdatedImage(container)],
    managedBy: managedBy(container),
  };
}

function volumesOf({ volumes }: Inventory, services: readonly StackService[]): readonly StackVolume[] {
  const users = new Map<string, Set<string>>();
  for (const { key, containers } of services) {
    for (const { type, source } of containers.flatMap(({ mounts }) => mounts)) {
      if (type === "volume") users.set(source, (users.get(source) ?? new Set()).add(key));
    }
  }
  return volumes
    .map(({ name, driver }) => ({ name, driver, usedBy: [...(users.get(name) ?? [])].toSorted() }))
    .toSorted(byName);
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}
