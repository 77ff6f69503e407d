import type { Notes } from "./notes.ts";
import type { ReadService } from "./read_service.ts";

/** Refuses a mount of the source that its container may write to when it holds what another mount shows: it could be swapped for a link to anything of the machine. */
export function checkSourceMounts(notes: Notes, services: readonly ReadService[]): void {
  const mounts = services.flatMap(({ node, spec }) =>
    spec.container.mounts.flatMap((mount) =>
      mount.kind === "source" ? [{ at: node.at, name: spec.name, mount }] : [],
    ),
  );
  const writable = mounts.filter(({ mount }) => !mount.readOnly);
  for (const outer of writable) {
    const inner = mounts.find(({ mount }) => isBelow(outer.mount.path, mount.path));
    if (inner === undefined) continue;
    const where = inner.name === outer.name ? "another one of it" : `one of ${inner.name}`;
    const next = "Make the outer one read-only, or keep the inner one elsewhere";
    notes.problem(
      outer.at,
      `Cannot mount a folder of the source in ${outer.name}: it may write to it, and ${where} lies inside. ${next}`,
    );
  }
}

function isBelow(outer: string, inner: string): boolean {
  return outer === "" ? inner !== "" : inner.startsWith(`${outer}/`);
}
