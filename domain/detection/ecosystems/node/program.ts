import { type Finding, warned } from "../../ecosystem.ts";
import { type JsonObject, memberOf, objectOf, textOf } from "../../text/json_text.ts";
import { dependsOn, isMember, type NodePackage, scriptText } from "./package.ts";
import { portIn, scriptCommand, startScript, startsAll, watchedProgram } from "./scripts.ts";
import { isDependedOn } from "./workspace.ts";
import { isPlainPath, plainPath } from "../../plain_names.ts";
import type { ProjectFolder } from "../../project_folder.ts";
import { pagesIn } from "../static_site.ts";

const ENTRY_NAMES = ["server", "app", "index", "main"];
const ENTRY_ENDINGS = ["js", "mjs", "cjs", "ts", "mts"];
const ENTRIES = ["", "src/"].flatMap((folder) =>
  ENTRY_NAMES.flatMap((name) => ENTRY_ENDINGS.map((ending) => `${folder}${name}.${ending}`)),
);
/** Matches the extension of a TypeScript file. */
export const TYPED = /\.[mc]?tsx?$/;
const DEVELOPS = "the start script of package.json is for development only";
const COMPILES = /(?:^|[\s&])(?:tsc|tsc-alias|swc|babel)(?:\s|$)/;

/** Describes a program of the project itself. */
export function program(project: NodePackage, found: Finding): Finding {
  const { folder, manifest } = project;
  const script = startScript(manifest);
  const text = script === undefined ? undefined : scriptText(manifest, script);
  const running: Finding = { ...found, projectType: "app", port: portIn(text) ?? found.port ?? 3000 };
  if (script !== undefined && !(project.holdsOthers && startsAll(text ?? ""))) {
    const watched = programPath(project, watchedProgram(text ?? ""));
    if (watched !== undefined) return { ...running, ...runOf(project, watched) };
    return { ...running, startCommand: scriptCommand(project, script)! };
  }
  // A script beside a page is for the browser, not for the server.
  const isPart = isPartOfOthers(project) || (!found.framework && isLibrary(manifest));
  const pages = found.framework || (isPart && !project.holdsOthers) ? undefined : pagesIn(folder);
  if (pages !== undefined) return { ...found, ...pages, language: found.language ?? null };
  const path = isPart ? undefined : entryOf(project);
  if (path === undefined) return warned({ ...found, projectType: "app" }, noStart(manifest, isPart));
  const { warnings = [], ...started } = runOf(project, path);
  return warned({ ...running, ...started }, ...warnings);
}

function noStart(manifest: JsonObject, isPart: boolean): string {
  const script = scriptText(manifest, "start") === undefined ? "package.json has no start script" : DEVELOPS;
  const rest = isPart ? "it describes a library that other packages use" : "there is no index.js or server.js";
  const next = 'Add a start script such as "start": "node server.js", or set startCommand on the project';
  return `Cannot tell how to start the project: ${script} and ${rest}. ${next}`;
}

/** The file that starts a project without a start script. */
export function entryOf({ folder, manifest }: NodePackage): string | undefined {
  const main = textOf(manifest, "main");
  const existing = folder.commandPath(main);
  if (existing !== undefined) return existing;
  const built = builtEntry(main, scriptText(manifest, "build"));
  if (built !== undefined) return built;
  return entryIn(folder);
}

/** The usual entry file in a folder. */
export function entryIn(folder: ProjectFolder): string | undefined {
  return folder.first(ENTRIES);
}

/** Returns the path in `main` if the build creates it. */
function builtEntry(main: string | undefined, build: string | undefined): string | undefined {
  const path = plainPath(main);
  return build !== undefined && path !== undefined && /^(?:dist|build|out|lib|output)\/.+\.[mc]?js$/.test(path)
    ? path
    : undefined;
}

/** Returns whether a package is used by others or is the root that contains them; neither is a program. */
function isPartOfOthers(project: NodePackage): boolean {
  const { folder, manifest, workspace } = project;
  if (project.holdsOthers) return true;
  if (!isMember(project)) return false;
  return isDependedOn(workspace!, textOf(manifest, "name")) || /(?:^|\/)(?:packages|libs?)\//.test(folder.path);
}

/** Returns whether a package is meant to be published: it declares what it exports. */
function isLibrary(manifest: JsonObject): boolean {
  const offers = ["exports", "files", "types", "typings"].some((key) => Object.hasOwn(manifest, key));
  return offers && manifest["private"] !== true;
}

function programPath({ folder }: NodePackage, named: string | undefined): string | undefined {
  const path = folder.commandPath(named);
  return path !== undefined && isPlainPath(path) ? path : undefined;
}

/** How to run a file. */
function runOf({ folder, manifest, manager }: NodePackage, path: string): Finding {
  if (manager.name === "bun") return { startCommand: `bun ${path}` };
  if (!TYPED.test(path)) return { startCommand: `${manager.node} ${path}` };
  const outDir = plainPath(textOf(memberOf(objectOf(folder.data("tsconfig.json")), "compilerOptions"), "outDir"));
  if (outDir !== undefined && COMPILES.test(scriptText(manifest, "build") ?? "")) {
    const compiled = path.replace(/^src\//, "").replace(TYPED, (ending) => ending.replace("t", "j").replace("x", ""));
    return { startCommand: `${manager.node} ${outDir}/${compiled}` };
  }
  const runner = ["tsx", "ts-node"].find((name) => dependsOn(manifest, name));
  if (runner !== undefined) return { startCommand: `${manager.exec} ${runner} ${path}` };
  return {
    startCommand: `${manager.node} ${path}`,
    warnings: [`Cannot be sure that ${path} starts: Node runs TypeScript from version 22.18 on. Add a start script`],
  };
}
