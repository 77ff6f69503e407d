import { scopeOf } from "../../domain/deployments/release_scope.ts";
import type { Deployment } from "../../domain/deployments/deployment.ts";
import { variablesFor } from "../../domain/projects/service_variables.ts";
import { invalid } from "../../domain/failure.ts";
import { Secret } from "../../domain/secret.ts";
import type { ServiceRecord } from "../../domain/services/service_set.ts";
import { sourceVolume, unnamedVolume } from "../../domain/services/volume_name.ts";
import type { ServiceMount } from "../../domain/services/service_spec.ts";
import { hasServices, innerPath } from "../../domain/services/sole_service.ts";
import type { Deployments } from "../../ports/deployments/deployments.ts";
import type { ReleaseFolders } from "../../ports/deployments/release_folders.ts";
import type { Instance, Runnable, RunnableMount, Runtime } from "../../ports/services/runtime.ts";
import { folderOf } from "./release_folder.ts";

export interface StartServicePorts {
  readonly deployments: Deployments;
  readonly releaseFolders: ReleaseFolders;
  readonly runtime: Runtime;
}

/** A service to start. */
export interface Placement {
  /** The deployment whose release it belongs to. */
  readonly deployment: Deployment;
  readonly record: ServiceRecord;
  readonly instanceId: string;
  readonly unannounced?: boolean;
  /** The instances of its dependencies. */
  readonly peers: readonly Instance[];
}

/** Starts a service of a release. */
export async function startService(ports: StartServicePorts, placement: Placement): Promise<Instance> {
  const { deployment, instanceId, record, unannounced = false } = placement;
  const { oneShot, name, container } = record.spec;
  const { cpus, memoryBytes } = container.limits;
  return ports.runtime.start({
    instanceId,
    deploymentId: deployment.id,
    projectId: deployment.projectId,
    service: name,
    scope: scopeOf(deployment),
    ...(unannounced && { unannounced }),
    ...(oneShot && { oneShot }),
    ...(memoryBytes !== null && { memoryBytes }),
    ...(cpus !== null && { cpus }),
    runs: await runnableOf(ports, deployment, record),
    environment: await environmentOf(ports, placement),
  });
}

async function environmentOf(ports: StartServicePorts, placement: Placement): Promise<ReadonlyMap<string, Secret>> {
  const { deployment, record, peers } = placement;
  const { environment, from, ports: listens } = record.spec;
  const given = hasServices(deployment)
    ? Object.entries(environment).map(([name, value]) => [name, new Secret(value)] as const)
    : variablesFor(await ports.deployments.environment(deployment.id), record.spec.name);
  // The runtime gives a process a free port of the machine in `PORT`.
  const own = record.image === null ? Array.from(given).filter(([name]) => name !== "PORT") : given;
  // A program in a container gets `PORT`, except a service with its own Dockerfile or image, such as from a compose
  // file: its definition says everything.
  const portVariables =
    record.image !== null && (from.kind === "app" || !hasServices(deployment)) ? { PORT: listens[0] } : {};
  const known = record.image === null ? peers.flatMap(addressOf) : [];
  const extra = [...Object.entries(portVariables), ...known].flatMap(([name, value]) =>
    value === undefined ? [] : [[name, new Secret(`${value}`)] as const],
  );
  return new Map([...extra.filter(([name]) => name !== "PORT"), ...own, ...extra.filter(([name]) => name === "PORT")]);
}

/** Processes cannot find each other by name, so each gets the addresses of its dependencies as variables. */
function addressOf({ host, port, service }: Instance): [string, string | number][] {
  if (port === null) return [];
  const name = service.toUpperCase().replaceAll(/[^A-Z0-9]+/g, "_");
  return [
    [`${name}_HOST`, host],
    [`${name}_PORT`, port],
    [`${name}_URL`, `http://${host}:${port}`],
  ];
}

async function runnableOf(ports: StartServicePorts, deployment: Deployment, record: ServiceRecord): Promise<Runnable> {
  const { image, spec } = record;
  const { from, name } = spec;
  if (image === null) {
    const folder = await folderOf({ deployment: filesOf(deployment, record), ports });
    const { rootDirectory = "", startCommand = null } = from.kind === "app" ? from : {};
    const workingFolder = rootDirectory === "" ? folder : `${folder}/${rootDirectory}`;
    return { kind: "folder", folder, workingFolder, command: startCommand ?? "" };
  }
  if (!hasServices(deployment)) {
    // A generated image starts the program itself; the command of a Dockerfile is overridden only if a start command is
    // set.
    const command = from.kind === "dockerfile" ? deployment.plan.startCommand : null;
    return { kind: "image", image, command, ports: spec.ports };
  }
  const mounts: RunnableMount[] = [];
  const files = filesOf(deployment, record);
  for (const mount of spec.container.mounts) mounts.push(await mounted(ports, files, name, mount));
  return { kind: "image", image, command: null, ports: spec.ports, container: spec.container, mounts };
}

/** The deployment, with the release folder that the service's files are in. */
export function filesOf(deployment: Deployment, { filesOf: other }: Pick<ServiceRecord, "filesOf">): Deployment {
  return other === undefined ? deployment : { ...deployment, artifactOf: other };
}

async function mounted(
  ports: StartServicePorts,
  deployment: Deployment,
  service: string,
  mount: ServiceMount,
): Promise<RunnableMount> {
  const { target } = mount;
  if (mount.kind === "memory") return mount;
  const { readOnly } = mount;
  if (mount.kind === "host") return { kind: "path", path: mount.path, target, readOnly };
  if (mount.kind === "volume") {
    const name = mount.name ?? unnamedVolume(service, target);
    return { kind: mount.external ? "external" : "volume", name, target, readOnly };
  }
  const there = await ports.releaseFolders.digest(deployment.artifactOf ?? deployment.id, mount.path);
  if (!there) return { kind: "volume", name: sourceVolume(mount.path), target, readOnly };
  if (deployment.plan.serverId !== undefined) {
    throw invalid(
      "source_not_there",
      `Cannot mount ${mount.path} into ${service}: files of the source are on this machine, not on the server. Copy them into the image, or name a volume`,
    );
  }
  const path = `${await folderOf({ deployment, ports })}/${innerPath(mount.path)}`;
  return { kind: "path", path: path.replace(/\/$/, ""), target, readOnly };
}
