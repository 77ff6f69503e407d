import type { ServiceSpec } from "./service_spec.ts";

/**
 * Returns what services need of a source: `all` if one is built from it, `files` if none is but one mounts a path of it
 * (a volume takes its place if there is no source), `nothing` if all are images.
 */
export function sourceNeed(services: readonly ServiceSpec[]): "all" | "files" | "nothing" {
  if (services.some(({ from }) => from.kind !== "image")) return "all";
  const mounts = services.flatMap(({ container }) => container.mounts);
  return mounts.some(({ kind }) => kind === "source") ? "files" : "nothing";
}
