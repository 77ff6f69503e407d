import { type ChosenVersion, chosenVersion } from "../../chosen_version.ts";
import type { ProjectFolder } from "../../project_folder.ts";
import { property } from "../../text/source_text.ts";
import { TOOL_VERSION_FILES, toolVersion, versionFile } from "../../tool_versions.ts";

/** Files that set the Java version of a project, besides its build files. */
export const JAVA_VERSION_FILES = ["system.properties", ".java-version", ".sdkmanrc", ...TOOL_VERSION_FILES];

/** The Java lines that have images. */
const LINES = [25, 24, 23, 22, 21, 17, 11, 8];
const PRESET = 21;

/** The Java version that the build of a project requires. */
export interface JavaDemand {
  /** The name of the file in messages. */
  readonly from: string;
  /** The version that it is compiled for; `undefined` when unknown. */
  readonly wanted: string | undefined;
  /** Whether only this version works, as with a toolchain. */
  readonly strict?: boolean;
  /** The newest line that the build tool itself runs on. */
  readonly newest?: number;
}

/** Picks the Java line that a project is built and run with. */
export function javaVersion(
  folder: ProjectFolder,
  { from, wanted, strict = false, newest }: JavaDemand,
): ChosenVersion {
  const built = { from, wanted: lineOf(wanted) };
  const named = [
    { from: "system.properties", wanted: property(folder.text("system.properties") ?? "", "java.runtime.version") },
    { from: ".java-version", wanted: versionFile(folder, ".java-version") },
    { from: ".sdkmanrc", wanted: property(folder.text(".sdkmanrc") ?? "", "java") },
    { from: "mise.toml or .tool-versions", wanted: toolVersion(folder, ["java"]) },
  ].map((requirement) => ({ ...requirement, wanted: lineOf(requirement.wanted) }));
  const preset = Math.min(PRESET, newest ?? PRESET);
  const known = { lines: LINES.map(String), preset: String(preset) };
  if (strict && built.wanted !== undefined) return chosenVersion("Java", [built], known);
  const chosen = named.find(({ wanted: line }) => line !== undefined);
  // Code compiled for an older Java runs on a newer one, but not the other way round.
  if (chosen === undefined) return chosenVersion("Java", [built], known);
  const enough = built.wanted === undefined || Number(built.wanted) <= Number(chosen.wanted);
  return chosenVersion("Java", enough ? [chosen] : [built, chosen], known);
}

/** Higher than any Java version for years to come; a larger number means something else. */
const BEYOND = 40;

/**
 * Parses a version in any notation of these files: `1.8`, `17.0.9-tem`, `temurin-21`, `openjdk64-11.0.2`. Returns its
 * line, rounded up to one that has images.
 */
function lineOf(written: string | undefined): string | undefined {
  // jenv writes the word size of the processor into the name.
  const text = (written ?? "").slice(0, 100).replace(/([a-z])64-/i, "$1-");
  const found = Number(/(?:^|[^0-9.])(?:1\.(?=[5-8](?:\D|$)))?(\d{1,2})(?![0-9])/.exec(text)?.[1] ?? BEYOND);
  if (found >= BEYOND) return undefined;
  return String(LINES.toReversed().find((line) => line >= found) ?? found);
}
