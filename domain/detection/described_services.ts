import type { ServiceSpec } from "../services/service_spec.ts";
import type { DetectedService } from "./detection.ts";

/** The location of a project inside its source. */
export interface ProjectPlace {
  /** Its folder with a trailing `/`; empty for the source root. */
  readonly root: string;
  readonly hasFolder: (path: string) => boolean;
}

/** Converts services to those of a detection, with warnings about missing folders. */
export function describedServices(
  services: readonly ServiceSpec[],
  { root, hasFolder }: ProjectPlace,
): { readonly services: readonly DetectedService[]; readonly warnings: readonly string[] } {
  const described = services.map(({ from, name, ports: [port] }): DetectedService => {
    const context = from.kind === "dockerfile" && from.context.startsWith(root) ? from.context.slice(root.length) : "";
    const dockerfile = from.kind === "dockerfile" ? from.dockerfile : null;
    return {
      name,
      rootDirectory: context === "" ? null : context,
      ...(dockerfile !== null && { dockerfile }),
      ...(from.kind === "image" && { image: from.reference }),
      ...(port !== undefined && { port }),
    };
  });
  const warnings = services.flatMap(({ from, name }) =>
    from.kind === "dockerfile" && from.context !== "" && !hasFolder(from.context)
      ? [`Cannot build ${name}: there is no folder ${from.context}. Correct its build context`]
      : [],
  );
  return { services: described, warnings };
}
