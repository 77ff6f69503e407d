import { type ChosenVersion, chosenVersion, type VersionRequirement } from "../../chosen_version.ts";
import { type JsonObject, memberOf, objectOf, textOf } from "../../text/json_text.ts";
import type { ProjectFolder } from "../../project_folder.ts";
import { toolVersion, versionFile } from "../../tool_versions.ts";
import { isWanted, type KnownVersions } from "../../version_range.ts";

const NODE: KnownVersions = {
  lines: ["26", "25", "24", "23", "22", "21", "20", "19", "18", "17", "16", "15", "14", "12", "10", "8"],
  preset: "24",
};
const BUN: KnownVersions = { lines: ["1"], preset: "1" };
const NEWEST_LTS = 26;
/** LTS lines by the names that nvm knows. */
const NAMED: Readonly<Record<string, string>> = {
  krypton: "24",
  jod: "22",
  iron: "20",
  hydrogen: "18",
  gallium: "16",
  fermium: "14",
  erbium: "12",
  dubnium: "10",
  carbon: "8",
};
const EXACT = /^[=v]*\s*\d+(?:\.\d+){0,2}$/;

/** Files that contain only a version of Node or Bun. */
export const NODE_VERSION_FILES = [".nvmrc", ".node-version", ".bun-version"] as const;

/**
 * Picks the version of Node: the pin of a version manager if `engines` allows it, else what `engines` requires.
 * `manifests` are the package's own and those around it, the nearest first.
 */
export function nodeVersion(folder: ProjectFolder, manifests: readonly JsonObject[]): ChosenVersion {
  const pins: VersionRequirement[] = [
    requirement(
      "volta in package.json",
      firstOf(manifests, (manifest) => textOf(memberOf(manifest, "volta"), "node")),
    ),
    requirement(
      "devEngines in package.json",
      firstOf(manifests, (manifest) => runtime(manifest, "node")),
    ),
    requirement(".nvmrc", versionFileOf(folder, ".nvmrc")),
    requirement(".node-version", versionFileOf(folder, ".node-version")),
    requirement("mise.toml or .tool-versions", toolVersion(folder, ["node", "nodejs"])),
  ];
  const engines = firstOf(manifests, (manifest) => textOf(memberOf(manifest, "engines"), "node"));
  return byPinOrEngines("Node", engines, pins.map(plainLine), NODE);
}

/** Picks the version of Bun in the same way. */
export function bunVersion(folder: ProjectFolder, manifests: readonly JsonObject[]): ChosenVersion {
  const pins: VersionRequirement[] = [
    requirement("packageManager in package.json", firstOf(manifests, packageManagersBun)),
    requirement(
      "devEngines in package.json",
      firstOf(manifests, (manifest) => runtime(manifest, "bun")),
    ),
    requirement(".bun-version", versionFileOf(folder, ".bun-version")),
    requirement("mise.toml or .tool-versions", toolVersion(folder, ["bun"])),
  ];
  const engines = firstOf(manifests, (manifest) => textOf(memberOf(manifest, "engines"), "bun"));
  return byPinOrEngines("Bun", engines, pins, BUN);
}

function byPinOrEngines(
  name: string,
  engines: string | undefined,
  pins: readonly VersionRequirement[],
  known: KnownVersions,
): ChosenVersion {
  const required = requirement("engines in package.json", engines);
  const open = engines !== undefined && !EXACT.test(engines.trim());
  const fits = ({ wanted }: VersionRequirement) => wanted !== undefined && isWanted(wanted.replace(/^v/, ""), engines!);
  const fitting = open ? pins.find(fits) : undefined;
  return chosenVersion(name, fitting === undefined ? [required, ...pins] : [fitting, required, ...pins], known);
}

function requirement(from: string, wanted: string | undefined): VersionRequirement {
  return { from, wanted: wanted?.replace(/\s+#.*$/, "") };
}

/** Converts nvm's names of lines to numbers. */
function plainLine({ from, wanted }: VersionRequirement): VersionRequirement {
  const word = wanted?.trim().toLowerCase() ?? "";
  const [, name = ""] = /^lts[/-]?([a-z*]*|-\d)$/.exec(word) ?? [];
  if (word === "node" || word === "latest" || word === "current") return { from, wanted: NODE.lines[0]! };
  if (!word.startsWith("lts")) return { from, wanted };
  const back = /^-(\d)$/.exec(name)?.[1];
  return { from, wanted: NAMED[name] ?? String(NEWEST_LTS - 2 * Number(back ?? 0)) };
}

function versionFileOf(folder: ProjectFolder, name: string): string | undefined {
  return firstOf(folder.outward(), (place) => versionFile(place, name));
}

/** The version in `devEngines.runtime`, which may be one runtime or a list. */
function runtime(manifest: JsonObject, name: string): string | undefined {
  const engines = memberOf(manifest, "devEngines");
  const written: unknown = engines !== undefined && Object.hasOwn(engines, "runtime") ? engines["runtime"] : undefined;
  const all = (Array.isArray(written) ? written.slice(0, 10) : [written]).map(objectOf);
  return textOf(
    all.find((one) => textOf(one, "name") === name),
    "version",
  );
}

function packageManagersBun(manifest: JsonObject): string | undefined {
  return /^bun@(\d{1,4}(?:\.\d{1,4}){0,2})(?:[+-]|$)/.exec(textOf(manifest, "packageManager") ?? "")?.[1];
}

function firstOf<T, R>(all: readonly T[], of: (one: T) => R | undefined): R | undefined {
  for (const one of all) {
    const found = of(one);
    if (found !== undefined) return found;
  }
  return undefined;
}
