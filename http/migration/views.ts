import type { AdoptedProject } from "../../application/migration/adopt_services.ts";
import type { ScannedServer } from "../../application/migration/scan_server.ts";
import { portText } from "../../domain/migration/adopted_definition.ts";
import type { ContainerState, FoundContainer } from "../../domain/migration/inventory.ts";
import { looksSecret, maskedLabel, maskedWords } from "../../domain/migration/secret_looking.ts";
import type { StackService } from "../../domain/migration/stack.ts";
import { projectView } from "../projects/schemas.ts";

/** Converts a scan for the API, without anything that looks like a secret. */
export function stackView({ scannedAt, serverId, stack }: ScannedServer) {
  const { composeProjects, containers, managed, networks, runtime, volumes, warnings } = stack;
  return {
    serverId,
    scannedAt: scannedAt.toISOString(),
    runtime,
    composeProjects: composeProjects.map(({ services, ...project }) => ({
      ...project,
      services: services.map(serviceView),
    })),
    containers: containers.map(serviceView),
    volumes,
    networks,
    warnings,
    managed: managed.map(({ container: { id, image, name, state }, holder, key }) => ({
      key,
      name,
      containerId: id,
      state,
      image,
      projectId: holder?.projectId ?? null,
      service: holder?.service ?? null,
    })),
  };
}

/** Converts an adopted project for the API. */
export function adoptedView({ adoption, project }: AdoptedProject) {
  return {
    project_id: project.id,
    project: projectView(project),
    services: adoption.services.map(({ definition }) => definition),
    adopted: adoption.services.map(({ containerId, containerName, key, service }) => ({
      service,
      key,
      containerId,
      containerName,
    })),
    warnings: adoption.warnings,
  };
}

function serviceView({ containers, managedBy, ...service }: StackService) {
  const [first] = containers;
  const { build, dependsOn, drift, key, name, project, source } = service;
  return {
    key,
    name,
    source,
    project,
    containerIds: containers.map(({ id }) => id),
    image: first?.image ?? "",
    imageId: first?.imageId ?? "",
    build,
    command: maskedWords(first?.command ?? []),
    entrypoint: maskedWords(first?.entrypoint ?? []),
    ports: (first?.ports ?? []).map(portText),
    environment: first ? environmentView(first) : [],
    volumes: (first?.mounts ?? []).map(({ readOnly, source: from, target, type }) => ({
      type,
      source: from,
      target,
      readOnly,
    })),
    networks: (first?.networks ?? []).map((network) => network.name),
    dependsOn,
    restart: first?.restart ?? "",
    healthcheck: first?.healthcheck ? { ...first.healthcheck, test: maskedWords(first.healthcheck.test) } : null,
    state: stateOf(containers),
    labels: first ? labelsView(first) : {},
    drift,
    managedBy,
  };
}

function environmentView({ environment, imageFacts }: FoundContainer) {
  const own = [...environment].filter(([key, value]) => imageFacts?.environment.get(key)?.reveal() !== value.reveal());
  return own
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => {
      const secret = looksSecret(key, value.reveal());
      return { key, secret, value: secret ? null : value.reveal() };
    });
}

function labelsView({ imageFacts, labels }: FoundContainer): Record<string, string> {
  const own = Object.entries(labels).filter(([name, value]) => imageFacts?.labels[name] !== value);
  return Object.fromEntries(own.map(([name, value]) => [name, maskedLabel(name, value)]));
}

function stateOf(containers: readonly FoundContainer[]): ContainerState | "partial" | "absent" {
  const states = new Set(containers.map(({ state }) => state));
  if (states.size > 1 && states.has("running")) return "partial";
  return containers[0]?.state ?? "absent";
}
