import { isWanted, type KnownVersions, versionFor } from "./version_range.ts";

/** The language version that one file of a project requires. */
export interface VersionRequirement {
  /** The name of the file in messages. */
  readonly from: string;
  /** An exact version, a range or a word such as `latest`; `undefined` when the file is absent or names none. */
  readonly wanted: string | undefined;
}

/** The language version to use, and the warnings about it. */
export interface ChosenVersion {
  readonly version: string;
  readonly warnings: readonly string[];
}

const LEFT_OPEN = /^(?:latest|stable|system|default|current|\*)$/i;
const PLAIN = /^[\w.*^~<>=!|, +-]{1,60}$/;

/**
 * Picks the version of the first requirement that can be met, else the preset. Warns about earlier requirements that
 * cannot be met, and about later ones that conflict.
 */
export function chosenVersion(
  language: string,
  requirements: readonly VersionRequirement[],
  known: KnownVersions,
): ChosenVersion {
  const warnings: string[] = [];
  let chosen: { readonly from: string; readonly wanted: string; readonly version: string } | undefined;
  for (const { from, wanted } of requirements) {
    if (wanted === undefined || LEFT_OPEN.test(wanted.trim())) continue;
    const version = versionFor(wanted, known);
    if (chosen !== undefined) {
      if (version === undefined || isWanted(chosen.version, wanted)) continue;
      const said = `${chosen.from} asks for ${shown(chosen.wanted)}, ${from} for ${shown(wanted)}`;
      warnings.push(
        `Cannot be sure of the version of ${language}: ${said}. ${chosen.version} is used; make them agree`,
      );
    } else if (version === undefined) {
      warnings.push(
        `Cannot use the version of ${language} that ${from} asks for, ${shown(wanted)}: it is not known. Name another one there`,
      );
    } else chosen = { from, wanted, version };
  }
  return { version: chosen?.version ?? known.preset, warnings };
}

function shown(wanted: string): string {
  return PLAIN.test(wanted.trim()) ? wanted.trim() : "something unusual";
}
