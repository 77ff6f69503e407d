import type { Refinement } from "./ecosystem.ts";

const NAMES = ["Dockerfile", "dockerfile", "Containerfile"];

/** A Dockerfile says better than anything else how its project is built and started. */
export const docker: Refinement = {
  manifests: NAMES,
  refine(folder, found) {
    const dockerfile = folder.first(NAMES);
    if (dockerfile === undefined) return found;
    const exposed = [...(folder.text(dockerfile) ?? "").matchAll(/^[ \t]*EXPOSE[ \t]+(\d{1,5})\b/gim)].at(-1)?.[1];
    const port = exposed === undefined || Number(exposed) > 65_535 ? undefined : Number(exposed);
    return { ...found, projectType: "docker", dockerfile, port: port ?? found?.port ?? null };
  },
};
