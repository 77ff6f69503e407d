import type { ServiceMount, ServiceSpec } from "../services/service_spec.ts";
import { volumeEntry } from "../services/volume_notation.ts";
import type { AdoptedService } from "./adoption.ts";

/**
 * Returns a service with its mounts marked that the container has which it was adopted from: volumes by the engine's own
 * name, and paths of the server. What it could only read, it can only read.
 */
export function withAdoptedMounts(spec: ServiceSpec, adopted: readonly AdoptedService[]): ServiceSpec {
  const origin = adopted.find(({ service }) => service === spec.name);
  if (!origin) return spec;
  const former = (origin.definition.volumes ?? []).flatMap((text) => {
    const read = volumeEntry(text);
    return "value" in read ? [read.value] : [];
  });
  const mounts = spec.container.mounts.map((mount) => (former.some((one) => covers(one, mount)) ? kept(mount) : mount));
  return { ...spec, container: { ...spec.container, mounts } };
}

function covers(former: ServiceMount, mount: ServiceMount): boolean {
  if (former.kind === "memory" || mount.kind === "memory" || (former.readOnly && !mount.readOnly)) return false;
  if (former.kind === "volume") return mount.kind === "volume" && mount.name !== null && mount.name === former.name;
  return former.kind === "host" && mount.kind === "host" && mount.path === former.path;
}

function kept(mount: ServiceMount): ServiceMount {
  if (mount.kind === "volume") return { ...mount, external: true, adopted: true };
  return mount.kind === "host" ? { ...mount, adopted: true } : mount;
}
