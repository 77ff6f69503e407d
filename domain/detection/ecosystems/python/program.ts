import type { ProjectFolder } from "../../project_folder.ts";

/** The location of an application, as a server imports it. */
export interface PythonApplication {
  /** The file that creates it. */
  readonly path: string;
  /** `package.module`, relative to `base`. */
  readonly module: string;
  /** The variable in the module; `undefined` when the application is only created by calling `factory`. */
  readonly variable: string | undefined;
  readonly factory: string | undefined;
  /** The folder that modules are imported from, `""` for the project's own. */
  readonly base: string;
}

const NAMES = ["main", "app", "server", "wsgi", "asgi", "api", "application", "run", "start", "bot", "__init__"];
/** Names of the files whose text is read. */
export const PROGRAM_MANIFESTS = [...NAMES.map((name) => `${name}.py`), "streamlit_app.py"];
const CANDIDATE = new RegExp(`^(?:[A-Za-z_]\\w{0,99}/){0,3}(?:${NAMES.join("|")})\\.py$`);
const STARTABLE = ["main", "app", "server", "start", "run", "bot", "__main__"];
const FACTORY = "(?:create_app|make_app|get_app|create_application|get_application|build_app)";
const SET_BY_FACTORY = new RegExp(`^([A-Za-z_]\\w{0,99})[ \\t]{0,9}=[ \\t]{0,9}${FACTORY}\\(`, "m");
const FACTORY_ITSELF = new RegExp(`^(?:async )?def (${FACTORY})\\(`, "m");
const IMPORTED = /^from [\w.]{1,200} import (app|application|server)\b/m;
const IMPORTS = /^(?:from|import) ([A-Za-z_]\w{0,99})/gm;
/** Python files at the root that are never the program itself. */
const NO_PROGRAM =
  /^(?:setup|conftest|noxfile|tasks|fabfile|manage|wsgi|asgi|__init__|settings|config|test_.*|.*_test)\.py$/;
const RUNNABLE_PACKAGE = /^(?:src\/)?[A-Za-z_]\w{0,99}\/__main__\.py$/;
const PLAIN_FILE = /^[A-Za-z_]\w{0,99}\.py$/;

/** Finds the application that one of these classes or functions creates, in the file nearest to the root. */
export function applicationOf(folder: ProjectFolder, makers: readonly string[]): PythonApplication | undefined {
  const candidates = candidatesIn(folder);
  const made = new RegExp(
    `^([A-Za-z_]\\w{0,99})(?:[ \\t]{0,9}:[ \\t]{0,9}[\\w.]{1,99}|[ \\t]{0,9},[ \\t]{0,9}\\w{1,99})?[ \\t]{0,9}=[ \\t]{0,9}(?:\\w{1,99}\\.)?(?:${makers.join("|")})\\(`,
    "m",
  );
  for (const expression of [made, SET_BY_FACTORY, IMPORTED, FACTORY_ITSELF]) {
    for (const path of candidates) {
      // Only such a file imports the application so that servers find it there.
      if (expression === IMPORTED && !/(?:^|\/)[aw]sgi\.py$/.test(path)) continue;
      const name = expression.exec(folder.text(path) ?? "")?.[1];
      if (name === undefined) continue;
      const isFactory = expression === FACTORY_ITSELF;
      return {
        ...located(folder, path),
        variable: isFactory ? undefined : name,
        factory: isFactory ? name : undefined,
      };
    }
  }
  return undefined;
}

/** A program that serves by itself. */
export interface PythonProgram {
  readonly path: string;
  /** The command line after `python`. */
  readonly arguments: string;
  /** As for an application. */
  readonly base: string;
}

/** Finds the plain program of a project: a file with a usual name, a runnable package, or the only file. */
export function programOf(folder: ProjectFolder): PythonProgram | undefined {
  const named = ["", "src/", "app/"].flatMap((inside) => STARTABLE.map((name) => `${inside}${name}.py`));
  const main = folder.files().find((path) => RUNNABLE_PACKAGE.test(path));
  const others = folder.names().filter((name) => PLAIN_FILE.test(name) && !NO_PROGRAM.test(name));
  const path = folder.first(named) ?? main ?? (others.length === 1 ? others[0] : undefined);
  if (path === undefined) return undefined;
  if (!path.includes("/")) return { path, arguments: path, base: "" };
  const { base, module } = located(folder, path);
  if (path === main) return { path, arguments: `-m ${module.replace(/\.__main__$/, "")}`, base };
  return { path, arguments: base === "" ? `-m ${module}` : path, base: "" };
}

/** The files that may create an application, those nearer to the root first. */
function candidatesIn(folder: ProjectFolder): string[] {
  return folder
    .files()
    .filter((path) => path.endsWith(".py") && CANDIDATE.test(path) && folder.text(path) !== undefined)
    .toSorted((a, b) => depth(a) - depth(b) || rank(a) - rank(b) || (a < b ? -1 : 1));
}

function rank(path: string): number {
  return NAMES.indexOf(path.slice(path.lastIndexOf("/") + 1, -".py".length));
}

function depth(path: string): number {
  return path.split("/").length;
}

function located(folder: ProjectFolder, path: string): Pick<PythonApplication, "path" | "module" | "base"> {
  const base = baseOf(folder, path);
  const inside = base === "" ? path : path.slice(base.length + 1);
  return { path, base, module: inside.replace(/(?:\/__init__)?\.py$/, "").replaceAll("/", ".") };
}

/** The folder that must be on Python's path, judging by the imports of the file. */
function baseOf(folder: ProjectFolder, path: string): string {
  if (!path.includes("/")) return "";
  const inside = path.slice(0, path.lastIndexOf("/"));
  const imported = new Set(Array.from((folder.text(path) ?? "").matchAll(IMPORTS), (match) => match[1]!));
  const lies = (where: string, name: string) => folder.has(`${where}${name}.py`) || folder.hasFolder(`${where}${name}`);
  const beside =
    !path.endsWith("/__init__.py") && [...imported].some((name) => lies(`${inside}/`, name) && !lies("", name));
  if (beside) return inside;
  const isSource = path.startsWith("src/") && !folder.has("src/__init__.py") && !imported.has("src");
  return isSource ? "src" : "";
}
