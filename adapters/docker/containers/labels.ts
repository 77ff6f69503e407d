import type { RunnableImage, RunRequest } from "../../../ports/services/runtime.ts";
import type { ContainerRecord } from "./container_record.ts";

/** A port inside, and where on this machine it is published. */
export interface PublishedPort {
  readonly inside: number;
  readonly port: number;
}

type Labels = Readonly<Record<string, string>>;

/** The labels that tell whose a container, network or volume is. */
export const LABEL = {
  installation: "slipway.installation",
  instance: "slipway.instance",
  deployment: "slipway.deployment",
  project: "slipway.project",
  service: "slipway.service",
  /** The first published port; all that containers of earlier versions tell. */
  port: "slipway.port",
  ports: "slipway.ports",
  oneShot: "slipway.one-shot",
  scope: "slipway.scope",
  aliases: "slipway.aliases",
  unannounced: "slipway.unannounced",
  /** The instance that a network introduces. */
  introduces: "slipway.introduces",
  /** By which names it does so. */
  names: "slipway.names",
  /** Which one of its scope it is, counted from the first. */
  generation: "slipway.generation",
  volume: "slipway.volume",
  files: "slipway.files",
} as const;

const OWN = /^slipway\./i;

/** What the container of an instance is labelled with. All of them are always given, as an image may bring labels of the same names. */
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

/** Where a container is published, the most important port first. */
export function publishedPorts({
  Config,
  HostConfig,
}: Pick<ContainerRecord, "Config" | "HostConfig">): PublishedPort[] {
  if (Config.Labels[LABEL.ports] !== undefined) return notedPorts(Config.Labels);
  // One that an earlier version made: it had one port, and the engine knows which.
  const port = Number(Config.Labels[LABEL.port]);
  const [inside] = Object.keys(HostConfig.PortBindings ?? {});
  return inside === undefined || !port ? [] : [{ inside: Number.parseInt(inside, 10), port }];
}

/** The ports of this machine that a container holds, also while it does not run. */
export function heldPorts(labels: Labels): readonly number[] {
  if (labels[LABEL.ports] !== undefined) return notedPorts(labels).map(({ port }) => port);
  return labels[LABEL.port] ? [Number(labels[LABEL.port])] : [];
}

/** The scope of a container; in earlier versions its project. */
export function scopeOf(labels: Labels): string {
  return labels[LABEL.scope] ?? labels[LABEL.project] ?? "";
}

/** By which names others of its scope find a container, once they do. */
export function namesOf(labels: Labels): readonly string[] {
  const aliases = (labels[LABEL.aliases] ?? "").split(" ").filter((alias) => alias !== "");
  return [...new Set([labels[LABEL.service] ?? "", ...aliases])];
}

/** Whether others are to find it by its names only after it was introduced. */
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

/** Without those that would say something about this installation. */
function othersLabels(labels: Labels): Labels {
  return Object.fromEntries(Object.entries(labels).filter(([name]) => !OWN.test(name)));
}
