import { ECOSYSTEMS, REFINEMENTS } from "./ecosystems.ts";

const MAX_PARTS = 4;
/** Folders that group projects, as in workspaces: their subfolders are meant to be deployed or used. */
export const GROUPS: ReadonlySet<string> = new Set(["apps", "packages", "services"]);
const PASSED_OVER = /^(?:\..*|node_modules|vendor|venv|tests?|__\w+__|examples?|coverage|fixtures)$/;
/** Skipped too, unless inside a group: `docs` beside the sources is text, `apps/docs` is a site. */
const BESIDE = /^(?:docs?|scripts?|tools)$/;
/** Hidden folders that contain manifests of a project. */
const READ_THOUGH_HIDDEN = new Set([".mvn"]);
/** Where JVM projects keep their settings; this path does not count towards the depth limit. */
const RESOURCES = "src/main/resources/";
const PATTERNS = [...ECOSYSTEMS, ...REFINEMENTS].flatMap(({ manifests }) => manifests);
const NAMES = new Set(PATTERNS.filter((pattern) => typeof pattern === "string"));
const EXPRESSIONS = PATTERNS.filter((pattern) => typeof pattern !== "string");

/** Returns whether `detect` may read the text of a file. */
export function isManifest(path: string): boolean {
  const name = path.slice(path.lastIndexOf("/") + 1);
  // Checks the name first, which rules out most files.
  if (!NAMES.has(name) && !EXPRESSIONS.some((expression) => expression.test(name))) return false;
  const folders = path.replace(RESOURCES, "").split("/").slice(0, -1);
  return folders.length < MAX_PARTS && !isIgnoredFolder(folders.filter((folder) => !READ_THOUGH_HIDDEN.has(folder)));
}

/** Returns whether a folder, by the names on its path, contains no project that is meant to be deployed. */
export function isIgnoredFolder(way: readonly string[]): boolean {
  return way.some((name, index) => PASSED_OVER.test(name) || (BESIDE.test(name) && !GROUPS.has(way[index - 1] ?? "")));
}
