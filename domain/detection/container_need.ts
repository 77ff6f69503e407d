import type { Detection } from "./detection.ts";

/** Returns why a project needs containers to build and run; `undefined` when it can run as processes. */
export function containerNeed({ dockerfile, projectType, services }: Detection): string | undefined {
  if (projectType === "docker") return `it is built by ${dockerfile ?? "a Dockerfile"}`;
  if (projectType !== "services") return undefined;
  for (const { name, image, dockerfile: file } of services) {
    if (image !== undefined) return `its service ${name} needs the image ${image}`;
    if (file !== undefined) return `its service ${name} is built by ${file}`;
  }
  return undefined;
}
