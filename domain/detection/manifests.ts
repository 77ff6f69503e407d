import { ECOSYSTEMS, REFINEMENTS } from "./ecosystems.ts";

const MAX_PARTS = 4;
const PASSED_OVER =
  /^(?:\..*|node_modules|vendor|venv|docs?|tests?|__\w+__|examples?|scripts?|coverage|fixtures|tools)$/;
/** Hidden folders that belong to a project's own manifests. */
const READ_THOUGH_HIDDEN = new Set([".mvn"]);
const PATTERNS = [...ECOSYSTEMS, ...REFINEMENTS].flatMap(({ manifests }) => manifests);
const NAMES = new Set(PATTERNS.filter((pattern) => typeof pattern === "string"));
const EXPRESSIONS = PATTERNS.filter((pattern) => typeof pattern !== "string");

/** Tells whether `detect` may ask for the text of a file. */
export function isManifest(path: string): boolean {
  const parts = path.split("/");
  if (parts.length > MAX_PARTS || parts.slice(0, -1).some(isUnread)) return false;
  const name = parts.at(-1)!;
  return NAMES.has(name) || EXPRESSIONS.some((expression) => expression.test(name));
}

function isUnread(folder: string): boolean {
  return isPassedOver(folder) && !READ_THOUGH_HIDDEN.has(folder);
}

/** Tells whether a folder of this name holds no project that is meant to be deployed. */
export function isPassedOver(folder: string): boolean {
  return PASSED_OVER.test(folder);
}
