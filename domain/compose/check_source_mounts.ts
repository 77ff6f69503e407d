import type { Notes } from "./notes.ts";
import type { ReadService } from "./read_service.ts";

/** No path of a file system is deeper. */
const MAX_DEPTH = 2_048;

/**
 * Refuses a writable mount of the source that contains the path of another mount: the container could replace that path
 * with a symlink to any file of the host.
 */
export function checkSourceMounts(notes: Notes, services: readonly ReadService[]): void {
  const mounts = services.flatMap(({ node, spec }) =>
    spec.container.mounts.flatMap((mount) =>
      mount.kind === "source" ? [{ at: node.at, name: spec.name, mount }] : [],
    ),
  );
  const writable = new Map(mounts.filter(({ mount }) => !mount.readOnly).map((one) => [one.mount.path, one]));
  const reported = new Set<string>();
  for (const inner of mounts) {
    const outer = foldersAbove(inner.mount.path).flatMap((path) => writable.get(path) ?? [])[0];
    if (outer === undefined || reported.has(outer.mount.path)) continue;
    reported.add(outer.mount.path);
    const where = inner.name === outer.name ? "another one of it" : `one of ${inner.name}`;
    const next = "Make the outer one read-only, or keep the inner one elsewhere";
    notes.problem(
      outer.at,
      `Cannot mount a folder of the source in ${outer.name}: it may write to it, and ${where} is inside it. ${next}`,
    );
  }
}

/** The ancestor folders of a path, including the source root. */
function foldersAbove(path: string): string[] {
  const parts = path === "" ? [] : path.split("/").slice(0, MAX_DEPTH);
  return parts.map((_, index) => parts.slice(0, index).join("/"));
}
