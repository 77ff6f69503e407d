import { type JsonObject, memberOf, objectOf, textOf } from "../../text/json_text.ts";
import type { ProjectFolder } from "../../project_folder.ts";
import { toolVersion, versionFile } from "../../tool_versions.ts";
import { isWanted, type KnownVersions, versionFor } from "../../version_range.ts";

/** Where to look for the version of a package manager. */
export interface ManagerPlaces {
  /** The folder of the lockfile. */
  readonly home: ProjectFolder;
  /** The manifests of the package and of its workspace. */
  readonly manifests: readonly JsonObject[];
}

const KNOWN: Readonly<Record<string, KnownVersions>> = {
  npm: { lines: ["12", "11", "10", "9", "8", "7", "6"], preset: "11" },
  pnpm: { lines: ["12", "11", "10", "9", "8", "7", "6", "5"], preset: "10" },
  yarn: { lines: ["4", "3", "2", "1"], preset: "1" },
  bun: { lines: ["1"], preset: "1" },
};
const EXACT = /^v?(\d{1,4}\.\d{1,4}\.\d{1,4}(?:-[0-9A-Za-z][0-9A-Za-z.]{0,40})?)(?:\+.*)?$/;
/** The keys of pnpm-workspace.yaml that pnpm before 10 knows; any other key means pnpm 10. */
const BEFORE_TEN = new Set(["packages", "catalog", "catalogs"]);

/**
 * Picks the version of a package manager: an exact one that any file names, else the line that wrote the lockfile if
 * allowed, else an allowed one.
 */
export function managerVersion(name: string, { home, manifests }: ManagerPlaces): string | undefined {
  const requirements = [
    ...manifests.map((manifest) => declared(name, manifest)),
    ...manifests.map((manifest) => devEngine(name, manifest)),
    ...manifests.map((manifest) => textOf(memberOf(manifest, "volta"), name)),
    name === "yarn" ? yarnPath(home) : undefined,
    name === "bun" ? versionFile(home, ".bun-version") : undefined,
    name === "npm" ? undefined : toolVersion(home, [name]),
    ...manifests.map((manifest) => textOf(memberOf(manifest, "engines"), name)),
  ].filter((wanted) => wanted !== undefined);
  for (const wanted of requirements) {
    const exact = EXACT.exec(wanted.trim().slice(0, 300))?.[1];
    if (exact !== undefined) return exact;
  }
  const allowed = requirements
    .map((wanted) => versionFor(wanted, KNOWN[name]!))
    .find((version) => version !== undefined);
  // Every npm version reads all current lockfiles, and npm comes with Node.
  if (name === "npm") return undefined;
  const line = lineOfLockfile(name, home);
  return line !== undefined && requirements.every((wanted) => isWanted(line, wanted)) ? line : (allowed ?? line);
}

function declared(name: string, manifest: JsonObject): string | undefined {
  const written = textOf(manifest, "packageManager") ?? "";
  return written.startsWith(`${name}@`) ? written.slice(name.length + 1) : undefined;
}

function devEngine(name: string, manifest: JsonObject): string | undefined {
  const written: unknown = memberOf(manifest, "devEngines")?.["packageManager"];
  const all = (Array.isArray(written) ? written.slice(0, 10) : [written]).map(objectOf);
  return textOf(
    all.find((one) => textOf(one, "name") === name),
    "version",
  );
}

/** The Yarn release that is committed to the project. */
function yarnPath(home: ProjectFolder): string | undefined {
  const path = textOf(objectOf(home.data(".yarnrc.yml")), "yarnPath") ?? "";
  return /^\.?\/?\.yarn\/releases\/yarn-(\d[\w.-]{0,40})\.c?js$/.exec(path)?.[1];
}

function lineOfLockfile(name: string, home: ProjectFolder): string | undefined {
  if (name === "pnpm") return pnpmLine(home);
  return name === "yarn" ? yarnLine(home) : undefined;
}

function pnpmLine(home: ProjectFolder): string | undefined {
  const version = /^lockfileVersion:\s*['"]?(\d{1,2}(?:\.\d)?)/m.exec(start(home, "pnpm-lock.yaml"))?.[1];
  if (version === undefined) return undefined;
  if (Number(version) >= 9) return settingsOfTen(home) ? "10" : "9";
  // pnpm before 7 does not run on current Node versions; pnpm 7 reads its lockfiles.
  return Number(version) >= 6 ? "8" : "7";
}

function settingsOfTen(home: ProjectFolder): boolean {
  return Object.keys(objectOf(home.data("pnpm-workspace.yaml")) ?? {}).some((key) => !BEFORE_TEN.has(key));
}

function yarnLine(home: ProjectFolder): string | undefined {
  const text = start(home, "yarn.lock");
  const version = /^__metadata:\s*\n\s+version:\s*(\d{1,2})/m.exec(text)?.[1];
  if (version !== undefined) return Number(version) >= 7 ? "4" : Number(version) >= 5 ? "3" : "2";
  if (text.includes("# yarn lockfile v1")) return "1";
  return home.has(".yarnrc.yml") ? "4" : undefined;
}

/** The beginning of a lockfile, which contains its metadata. */
function start(home: ProjectFolder, name: string): string {
  return (home.text(name) ?? "").slice(0, 1_000).replaceAll("\r", "");
}
