import type { Detection } from "./detection.ts";
import type { ProjectFolder } from "./project_folder.ts";

/** What one ecosystem found; fields left out are unknown. */
export interface Finding extends Partial<Omit<Detection, "rootDirectory">> {
  /** Whether the file that would tell more cannot be read: then nobody else guesses what the folder is. */
  readonly broken?: boolean;
  /** Where programs of installed packages lie, which the commands of a Procfile call by name; relative. */
  readonly programs?: string;
}

/** Recognises the projects of one language or tool. */
export interface Ecosystem {
  /** Names of the files whose text it reads, wherever they lie. */
  readonly manifests: readonly (string | RegExp)[];
  /** What the folder is, or `undefined` when it is none of this ecosystem's. Never throws, whatever the files hold. */
  detect(folder: ProjectFolder): Finding | undefined;
  /** Folders in which the manifests here say that parts of a larger whole lie, as workspaces do; relative. Never throws. */
  members?(folder: ProjectFolder): readonly string[];
}

/** Adds to what an ecosystem found, whichever it was. */
export interface Refinement {
  /** As for an ecosystem. */
  readonly manifests: readonly (string | RegExp)[];
  /** The finding with this refinement's own facts; `undefined` when there are still none. Never throws. */
  refine(folder: ProjectFolder, found: Finding | undefined): Finding | undefined;
}

/** Adds warnings to a finding. */
export function warned(found: Finding, ...warnings: readonly string[]): Finding {
  return warnings.length === 0 ? found : { ...found, warnings: [...(found.warnings ?? []), ...warnings] };
}
