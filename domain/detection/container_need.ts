import type { Detection } from "./detection.ts";

/** Why a project can only be built and run in containers; `undefined` when processes will do. */
export function containerNeed({ dockerfile, projectType, services }: Detection): string | undefined {
  if (projectType === "docker") return `it is built by ${dockerfile ?? "a Dockerfile"}`;
  if (projectType !== "services") return undefined;
  for (const { name, image, dockerfile: file } of services) {
    if (image !== undefined) return `its service ${name} needs the image ${image}`;
    if (file !== undefined) return `its service ${name} is built by ${file}`;
  }
  return undefined;
}
