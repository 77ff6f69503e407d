import type { Detection } from "./detection.ts";
import type { ProjectFolder } from "./project_folder.ts";

/** What one ecosystem detected; omitted fields are unknown. */
export interface Finding extends Partial<Omit<Detection, "rootDirectory">> {
  /**
   * Whether the decisive manifest cannot be parsed. The finding then counts without a start command, and subfolders are
   * not searched for projects.
   */
  readonly broken?: boolean;
  /** The relative folder with the programs of installed packages, which Procfile commands call by name. */
  readonly programs?: string;
}

/** Detects projects of one language or tool. */
export interface Ecosystem {
  /** Names of the files whose text it reads, in any folder. */
  readonly manifests: readonly (string | RegExp)[];
  /**
   * Detects what the folder is; `undefined` when it is not of this ecosystem. Never throws, whatever the files contain.
   */
  detect(folder: ProjectFolder): Finding | undefined;
  /** Returns the relative folders that the manifests here declare as workspace members. Never throws. */
  members?(folder: ProjectFolder): readonly string[];
}

/** Adds to the finding of any ecosystem. */
export interface Refinement {
  /** As for an ecosystem. */
  readonly manifests: readonly (string | RegExp)[];
  /** Returns the finding with this refinement's additions; `undefined` when there is still none. Never throws. */
  refine(folder: ProjectFolder, found: Finding | undefined): Finding | undefined;
}

/** Adds warnings to a finding. */
export function warned(found: Finding, ...warnings: readonly string[]): Finding {
  return warnings.length === 0 ? found : { ...found, warnings: [...(found.warnings ?? []), ...warnings] };
}
