import { type ChosenVersion, chosenVersion } from "../../chosen_version.ts";
import type { ProjectFolder } from "../../project_folder.ts";
import { property } from "../../text/source_text.ts";
import { TOOL_VERSION_FILES, toolVersion, versionFile } from "../../tool_versions.ts";

/** Files that say with which Java a project is run, besides those that say how it is built. */
export const JAVA_VERSION_FILES = ["system.properties", ".java-version", ".sdkmanrc", ...TOOL_VERSION_FILES];

/** The lines that there are images of. */
const LINES = [25, 24, 23, 22, 21, 17, 11, 8];
const PRESET = 21;

/** What the build of a project says about Java. */
export interface JavaDemand {
  /** The file, as it is named to a person. */
  readonly from: string;
  /** The version that it is compiled for, or `undefined`. */
  readonly wanted: string | undefined;
  /** Whether no other version does, as with a toolchain. */
  readonly strict?: boolean;
  /** The newest line that the build tool itself runs on. */
  readonly newest?: number;
}

/** The line of Java that a project is built and run with. */
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
  // What is compiled for an older Java runs on a newer one, but not the other way round.
  if (chosen === undefined) return chosenVersion("Java", [built], known);
  const enough = built.wanted === undefined || Number(built.wanted) <= Number(chosen.wanted);
  return chosenVersion("Java", enough ? [chosen] : [built, chosen], known);
}

/** Newer than any that will be; what is written there is something else. */
const BEYOND = 40;

/** The line of a version as any of these files write it: `1.8`, `17.0.9-tem`, `temurin-21`, `openjdk64-11.0.2`; the next one that there are images of. */
function lineOf(written: string | undefined): string | undefined {
  // jenv writes the width of the processor into the name.
  const text = (written ?? "").slice(0, 100).replace(/([a-z])64-/i, "$1-");
  const found = Number(/(?:^|[^0-9.])(?:1\.(?=[5-8](?:\D|$)))?(\d{1,2})(?![0-9])/.exec(text)?.[1] ?? BEYOND);
  if (found >= BEYOND) return undefined;
  return String(LINES.toReversed().find((line) => line >= found) ?? found);
}
