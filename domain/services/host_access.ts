import { Failure } from "../failure.ts";
import { isWithin } from "../is_within.ts";
import { normalPath } from "./normal_path.ts";
import type { ServiceMount, ServiceSpec } from "./service_spec.ts";

/** What services may use of the host. */
export interface HostRules {
  readonly mode: "self-hosted" | "cloud";
  /** What an admin allowed for this project: absolute paths, and engine names of volumes. */
  readonly hostPaths: readonly string[];
  /** Folders that the operator lets every project read. */
  readonly roots: readonly string[];
  /** Slipway's own data folder, which no service may mount; `null` on another machine. */
  readonly dataFolder: string | null;
  /** Whether the services are the preview of a pull request, which may use nothing of the machine. */
  readonly isOfPullRequest?: boolean;
}

/** Access to one of these sockets gives control over the host. */
const SOCKETS = [
  "/var/run/docker.sock",
  "/run/docker.sock",
  "/run/containerd/containerd.sock",
  "/var/run/containerd/containerd.sock",
  "/run/podman/podman.sock",
  "/var/run/podman/podman.sock",
];

type HostMount = Extract<ServiceMount, { readonly kind: "host" | "volume" }>;

/** Returns the input field of a service's mount; both indexes count from 0. */
export type MountField = (service: number, mount: number) => string;

/**
 * Throws `host_access_forbidden` for services that mount host paths or external volumes without permission. The failure
 * names the field if that is known.
 */
export function checkHostAccess(
  services: readonly Pick<ServiceSpec, "name" | "container">[],
  rules: HostRules,
  fieldOf?: MountField,
): void {
  for (const [service, { name, container }] of services.entries()) {
    for (const [index, mount] of container.mounts.entries()) {
      if (mount.kind === "volume" && !mount.external) continue;
      if (mount.kind !== "host" && mount.kind !== "volume") continue;
      if (mount.adopted) continue;
      const why = refusalOf(mount, rules);
      if (why !== undefined) {
        const what = mount.kind === "host" ? `the path "${mount.path}"` : `the volume "${mount.name}"`;
        const sentence = `Cannot give "${name}" ${what} of the machine: ${why}`;
        const details = fieldOf && { details: [{ path: fieldOf(service, index), message: why }] };
        throw new Failure("forbidden", "host_access_forbidden", sentence, details);
      }
    }
  }
}

function refusalOf(mount: HostMount, rules: HostRules): string | undefined {
  const { mode, hostPaths, roots, dataFolder, isOfPullRequest } = rules;
  if (isOfPullRequest) return "previews of pull requests use volumes of their own only. Name a volume instead";
  const ask = "an admin can allow it by adding it to hostPaths of the project";
  if (mode === "cloud") return "in cloud mode services use volumes of their own only. Name a volume instead";
  if (mount.kind === "volume") return hostPaths.includes(mount.name ?? "") ? undefined : `${ask}`;
  const path = normalPath(mount.path) ?? mount.path;
  const allowed = hostPaths.filter((entry) => entry.startsWith("/")).map((entry) => normalPath(entry) ?? entry);
  const data = dataFolder === null ? null : (normalPath(dataFolder) ?? dataFolder);
  if (data !== null && (isWithin(data, path) || isWithin(path, data)))
    return "Slipway's own data is there. Use another folder";
  if (SOCKETS.some((socket) => isWithin(path, socket)) && !allowed.includes(path))
    return `a container engine's socket is there, which gives control over the machine; ${ask}, exactly as written here`;
  if (allowed.some((folder) => isWithin(folder, path))) return undefined;
  // A project that may write there could replace what others mount with a symlink, and change what they deploy.
  if (!roots.some((root) => isWithin(normalPath(root) ?? root, path))) return ask;
  return mount.readOnly ? undefined : `every project may only read it. Mount it with :ro, or ${ask}`;
}

/** Returns whether a string is a valid entry of `hostPaths`: an absolute path, or an engine's name of a volume. */
export function isHostPath(text: string): boolean {
  if (text.startsWith("/")) return !text.includes("\0") && !text.split("/").includes("..");
  return /^[A-Za-z0-9][A-Za-z0-9_.-]{0,254}$/.test(text);
}
