import type { Detection } from "./detection.ts";

/** Matches warnings about what prevents a project from starting at all; others do not prevent it. */
const OBSTACLE = /^Cannot (?:read|start|deploy|build|tell how to start|tell what) /;

/** Returns the warning that explains why nothing can be started and what to do; `undefined` when there is none. */
export function obstacle({ warnings }: Pick<Detection, "warnings">): string | undefined {
  return warnings.find((warning) => OBSTACLE.test(warning));
}

/** Adds the path of a subfolder to a warning about it. */
export function placed(warning: string, path: string): string {
  const read = "Cannot read ";
  return warning.startsWith(read) ? `${read}${path}/${warning.slice(read.length)}` : `${path}: ${warning}`;
}
