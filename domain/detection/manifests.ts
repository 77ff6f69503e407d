import { ECOSYSTEMS, REFINEMENTS } from "./ecosystems.ts";

const MAX_PARTS = 4;
/** Folders of folders, as workspaces have them: what lies there is meant to be deployed or used. */
export const GROUPS: ReadonlySet<string> = new Set(["apps", "packages", "services"]);
const PASSED_OVER = /^(?:\..*|node_modules|vendor|venv|tests?|__\w+__|examples?|coverage|fixtures)$/;
/** Passed over too, unless they lie in a group: `docs` beside the sources is text, `apps/docs` is a site. */
const BESIDE = /^(?:docs?|scripts?|tools)$/;
/** Hidden folders that belong to a project's own manifests. */
const READ_THOUGH_HIDDEN = new Set([".mvn"]);
/** Where projects of the Java world keep their settings; as deep as that counts for no depth. */
const RESOURCES = "src/main/resources/";
const PATTERNS = [...ECOSYSTEMS, ...REFINEMENTS].flatMap(({ manifests }) => manifests);
const NAMES = new Set(PATTERNS.filter((pattern) => typeof pattern === "string"));
const EXPRESSIONS = PATTERNS.filter((pattern) => typeof pattern !== "string");

/** Tells whether `detect` may ask for the text of a file. */
export function isManifest(path: string): boolean {
  const name = path.slice(path.lastIndexOf("/") + 1);
  // First what rules out most files.
  if (!NAMES.has(name) && !EXPRESSIONS.some((expression) => expression.test(name))) return false;
  const folders = path.replace(RESOURCES, "").split("/").slice(0, -1);
  return folders.length < MAX_PARTS && !isPassedOver(folders.filter((folder) => !READ_THOUGH_HIDDEN.has(folder)));
}

/** Tells whether a folder, by the names on the way to it, holds no project that is meant to be deployed. */
export function isPassedOver(way: readonly string[]): boolean {
  return way.some((name, index) => PASSED_OVER.test(name) || (BESIDE.test(name) && !GROUPS.has(way[index - 1] ?? "")));
}
