import { type Failure, invalid } from "../failure.ts";
import type { MountField } from "./host_access.ts";
import type { ServiceSpec } from "./service_spec.ts";
import { siteFolder } from "./sole_service.ts";

/** A path of the source or of the host that a service uses. */
interface Place {
  readonly service: string;
  readonly kind: "source" | "host";
  readonly path: string;
  readonly writable: boolean;
  /** The input field that it came from, if known. */
  readonly field?: string | undefined;
}

/** What is known about the services so far. */
interface SwapOptions {
  /** Whether it is known which of them are static sites. */
  readonly sites: boolean;
  readonly fieldOf?: MountField;
}

/**
 * Refuses services if one may write to a folder that contains a path which a service mounts or visitors are served: it
 * could replace that path with a symlink to anything on the host, because mounts and sites are opened by path again at
 * every start.
 */
export function checkSwaps(services: readonly ServiceSpec[], options: SwapOptions): void {
  const places = services.flatMap((spec, index) => placesOf(spec, index, options));
  const writable = places.filter((place) => place.writable);
  const outer = new Map(writable.map((place) => [keyOf(place, place.path), place]));
  const lengths = [...new Set(writable.map(({ path }) => path.length))].toSorted((a, b) => a - b);
  for (const inner of places) {
    for (const length of lengths) {
      if (length >= inner.path.length) break;
      const above = outer.get(keyOf(inner, inner.path.slice(0, length)));
      if (above && isInside(inner.path, above.path)) throw refusal(above, inner);
    }
  }
}

function keyOf({ kind }: Place, path: string): string {
  return `${kind} ${path}`;
}

function placesOf(spec: ServiceSpec, index: number, { sites, fieldOf }: SwapOptions): readonly Place[] {
  const { container, name: service } = spec;
  const mounts = container.mounts.flatMap((mount, at): readonly Place[] =>
    mount.kind === "source" || mount.kind === "host"
      ? [{ service, kind: mount.kind, path: mount.path, writable: !mount.readOnly, field: fieldOf?.(index, at) }]
      : [],
  );
  const site = sites ? siteFolder(spec) : null;
  return site === null ? mounts : [...mounts, { service, kind: "source", path: site, writable: false }];
}

/** Returns whether a path lies inside a folder and is not the folder itself. */
function isInside(path: string, folder: string): boolean {
  return folder === "" || folder === "/" ? path !== folder : path.startsWith(`${folder}/`);
}

function refusal({ field, kind, path, service }: Place, inner: Place): Failure {
  const shown = kind === "host" ? path : `./${path}`;
  const what = kind === "host" ? inner.path : `./${inner.path}`;
  const whose = inner.service === service ? "it uses too" : `${inner.service} uses`;
  const why = `"${what}", which ${whose}, is inside it. Mount the outer one with :ro, or keep the inner one elsewhere`;
  return invalid(
    "mount_inside_writable",
    `Cannot let ${service} write to "${shown}": ${why}`,
    field === undefined ? {} : { details: [{ path: field, message: why }] },
  );
}
