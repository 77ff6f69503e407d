import type { RuntimeName } from "../projects/project.ts";
import type { Detection } from "./detection.ts";

type Found = Pick<Detection, "image" | "processWarnings" | "startCommand" | "warnings">;

/**
 * Returns the start command for a runtime. A command that the user set stays, unless it is the one detected for the
 * other runtime.
 */
export function startCommandIn(runtime: RuntimeName, wanted: string | null, found: Found): string | null {
  const inImage = found.image?.startCommand ?? null;
  if (wanted === null || inImage === null) return wanted;
  if (wanted !== inImage && wanted !== found.startCommand) return wanted;
  return runtime === "docker" ? inImage : found.startCommand;
}

/** Returns the warnings for a project that runs with a start command in a runtime. */
export function warningsIn(runtime: RuntimeName, startCommand: string | null, found: Found): readonly string[] {
  const isAsFound = startCommand === found.startCommand;
  return runtime === "process" && isAsFound ? [...found.warnings, ...found.processWarnings] : found.warnings;
}
