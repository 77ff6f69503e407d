import type { RunnableImage, RunRequest } from "../../../ports/services/runtime.ts";
import type { ContainerRecord } from "../engine/containers.ts";

/** A port inside a container, and the port of this machine that it is published on. */
export interface PublishedPort {
  readonly inside: number;
  readonly port: number;
}

type Labels = Readonly<Record<string, string>>;

/** Labels that identify the owner of a container, network or volume. */
export const LABEL = {
  installation: "slipway.installation",
  instance: "slipway.instance",
  deployment: "slipway.deployment",
  project: "slipway.project",
  service: "slipway.service",
  /** The first published port; the only one on containers of earlier versions. */
  port: "slipway.port",
  ports: "slipway.ports",
  oneShot: "slipway.one-shot",
  scope: "slipway.scope",
  aliases: "slipway.aliases",
  unannounced: "slipway.unannounced",
  /** The instance that a network introduces. */
  introduces: "slipway.introduces",
  /** The DNS names under which it is introduced. */
  names: "slipway.names",
  /** The network's generation number within its scope, counted from the first. */
  generation: "slipway.generation",
  volume: "slipway.volume",
  files: "slipway.files",
  /** Marks a container that was made like an adopted one, with its restart policy. */
  asFound: "slipway.as-found",
} as const;

const OWN = /^slipway\./i;

/**
 * Returns the labels of an instance's container. Always sets all of them, because an image may bring labels of the same
 * names.
 */
export function instanceLabels(request: RunRequest<RunnableImage>, ports: readonly PublishedPort[]): Labels {
  const { instanceId, deploymentId, projectId, service, scope, oneShot, unannounced, runs } = request;
  return {
    ...othersLabels(runs.container?.labels ?? {}),
    [LABEL.instance]: instanceId,
    [LABEL.deployment]: deploymentId,
    [LABEL.project]: projectId,
    [LABEL.service]: service,
    [LABEL.port]: `${ports[0]?.port ?? ""}`,
    [LABEL.ports]: ports.map(({ inside, port }) => `${inside}:${port}`).join(" "),
    [LABEL.oneShot]: `${oneShot ?? false}`,
    [LABEL.scope]: scope,
    [LABEL.aliases]: (runs.container?.aliases ?? []).join(" "),
    [LABEL.unannounced]: `${unannounced ?? false}`,
  };
}

/** Returns a container's published ports, the most important first. */
export function publishedPorts({
  Config,
  HostConfig,
}: Pick<ContainerRecord, "Config" | "HostConfig">): PublishedPort[] {
  if (Config.Labels[LABEL.ports] !== undefined) return notedPorts(Config.Labels);
  // Created by an earlier version: it had one port, which the engine knows.
  const port = Number(Config.Labels[LABEL.port]);
  const [inside] = Object.keys(HostConfig.PortBindings ?? {});
  return inside === undefined || !port ? [] : [{ inside: Number.parseInt(inside, 10), port }];
}

/** Returns the ports of this machine that a container holds, even while it does not run. */
export function heldPorts(labels: Labels): readonly number[] {
  if (labels[LABEL.ports] !== undefined) return notedPorts(labels).map(({ port }) => port);
  return labels[LABEL.port] ? [Number(labels[LABEL.port])] : [];
}

/** Returns the scope of a container; in earlier versions its project. */
export function scopeOf(labels: Labels): string {
  return labels[LABEL.scope] ?? labels[LABEL.project] ?? "";
}

/** Returns the names by which the scope finds a container once it is announced. */
export function namesOf(labels: Labels): readonly string[] {
  const aliases = (labels[LABEL.aliases] ?? "").split(" ").filter((alias) => alias !== "");
  return [...new Set([labels[LABEL.service] ?? "", ...aliases])];
}

/** Whether its names resolve to it only after it was introduced. */
export function isUnannounced(labels: Labels): boolean {
  return labels[LABEL.unannounced] === "true";
}

function notedPorts(labels: Labels): PublishedPort[] {
  const pairs = labels[LABEL.ports]!.split(" ").filter((pair) => pair !== "");
  return pairs.map((pair) => {
    const [inside, port] = pair.split(":").map(Number);
    return { inside: inside!, port: port! };
  });
}

/** Drops labels in Slipway's own namespace, which would describe this installation. */
function othersLabels(labels: Labels): Labels {
  return Object.fromEntries(Object.entries(labels).filter(([name]) => !OWN.test(name)));
}
