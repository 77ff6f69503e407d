import type { ServiceSpec } from "./service_spec.ts";

/**
 * What services need of a source: `all` where one is built from it, `files` where none is but one mounts a file or folder of it (which is a volume where there is
 * no source), `nothing` where all are images.
 */
export function sourceNeed(services: readonly ServiceSpec[]): "all" | "files" | "nothing" {
  if (services.some(({ from }) => from.kind !== "image")) return "all";
  const mounts = services.flatMap(({ container }) => container.mounts);
  return mounts.some(({ kind }) => kind === "source") ? "files" : "nothing";
}
