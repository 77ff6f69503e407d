import type { RuntimeName } from "../projects/project.ts";
import type { Detection } from "./detection.ts";

type Found = Pick<Detection, "image" | "processWarnings" | "startCommand" | "warnings">;

/** The command that starts a project in a runtime; one that a person set stays, unless it is what was found for the other runtime. */
export function startCommandIn(runtime: RuntimeName, wanted: string | null, found: Found): string | null {
  const inImage = found.image?.startCommand ?? null;
  if (wanted === null || inImage === null) return wanted;
  if (wanted !== inImage && wanted !== found.startCommand) return wanted;
  return runtime === "docker" ? inImage : found.startCommand;
}

/** What a person is told of a project that a command starts in a runtime. */
export function warningsIn(runtime: RuntimeName, startCommand: string | null, found: Found): readonly string[] {
  const isAsFound = startCommand === found.startCommand;
  return runtime === "process" && isAsFound ? [...found.warnings, ...found.processWarnings] : found.warnings;
}
