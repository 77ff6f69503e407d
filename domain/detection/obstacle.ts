import type { Detection } from "./detection.ts";

/** Warnings of what keeps a project from being started at all; others are about how well it will do. */
const OBSTACLE = /^Cannot (?:read|start|deploy|build|tell how to start|tell what) /;

/** Why nothing was found to start, as a sentence that says what to do; `undefined` when nobody said. */
export function obstacle({ warnings }: Pick<Detection, "warnings">): string | undefined {
  return warnings.find((warning) => OBSTACLE.test(warning));
}

/** A warning about what lies in a folder, said of the whole. */
export function placed(warning: string, path: string): string {
  const read = "Cannot read ";
  return warning.startsWith(read) ? `${read}${path}/${warning.slice(read.length)}` : `${path}: ${warning}`;
}
