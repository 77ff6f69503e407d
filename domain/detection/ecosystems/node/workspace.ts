import { type JsonObject, memberOf, objectOf, textOf } from "../../text/json_text.ts";
import { isPlainPath } from "../../plain_names.ts";
import type { ProjectFolder } from "../../project_folder.ts";

/** Packages that are installed together. */
export interface Workspace {
  readonly root: ProjectFolder;
  /** The package.json of the root. */
  readonly manifest: JsonObject;
  /** Sorted by their paths. */
  readonly members: readonly WorkspaceMember[];
  /** The names of all packages that members depend on. */
  readonly needed: ReadonlySet<string>;
}

/** One package of a workspace. */
export interface WorkspaceMember {
  /** Relative to the root of the workspace. */
  readonly path: string;
  readonly manifest: JsonObject;
}

/** Files that describe workspaces, besides package.json. */
export const WORKSPACE_FILES = ["pnpm-workspace.yaml", "lerna.json", "nx.json", "turbo.json"] as const;

const MAX_PATTERNS = 50;
const MAX_MEMBERS = 200;
/** How many folders are searched for members. */
const MAX_FOLDERS = 1_000;
/** Deeper manifests are not read. */
const MAX_DEPTH = 3;
const DEPENDENCIES = ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"];

/** Returns the workspace that a folder is the root or a member of. */
export function workspaceOf(folder: ProjectFolder): Workspace | undefined {
  for (const root of folder.outward()) {
    const workspace = root.once("workspace of Node", workspaceAt);
    if (workspace === undefined) continue;
    const path = root.path === "" ? folder.path : folder.path.slice(root.path.length + 1);
    if (root.path === folder.path || workspace.members.some((member) => member.path === path)) return workspace;
  }
  return undefined;
}

function workspaceAt(root: ProjectFolder): Workspace | undefined {
  const patterns = patternsIn(root);
  if (patterns.length === 0) return undefined;
  const members = membersOf(root, patterns).map((path) => ({ path, manifest: manifestOf(root.at(path)) }));
  const needed = members.flatMap(({ manifest }) =>
    DEPENDENCIES.flatMap((kind) => Object.keys(memberOf(manifest, kind) ?? {})),
  );
  return { root, manifest: manifestOf(root), members, needed: new Set(needed) };
}

/** Returns the folders of the packages in the workspace at this folder. */
export function workspaceMembers(root: ProjectFolder): string[] {
  return root.once("workspace of Node", workspaceAt)?.members.map(({ path }) => path) ?? [];
}

/** Returns the members that a package depends on, directly or transitively; each follows its own dependencies. */
export function localDependencies({ members }: Workspace, manifest: JsonObject): WorkspaceMember[] {
  const byName = new Map(members.map((member) => [textOf(member.manifest, "name") ?? "", member]));
  const ordered = new Set<WorkspaceMember>();
  const visited = new Set<JsonObject>([manifest]);
  const visit = (of: JsonObject) => {
    for (const name of DEPENDENCIES.flatMap((kind) => Object.keys(memberOf(of, kind) ?? {}))) {
      const member = byName.get(name);
      if (member === undefined || visited.has(member.manifest)) continue;
      visited.add(member.manifest);
      visit(member.manifest);
      ordered.add(member);
    }
  };
  visit(manifest);
  return [...ordered];
}

/** Returns whether another member depends on the package of this name. */
export function isDependedOn({ needed }: Workspace, name: string | undefined): boolean {
  return name !== undefined && needed.has(name);
}

/** The relative path from a member to the root of its workspace, such as `../..`; `undefined` at the root itself. */
export function pathToRoot({ root }: Workspace, folder: ProjectFolder): string | undefined {
  const depth = partsOf(folder.path).length - partsOf(root.path).length;
  return depth === 0 ? undefined : Array.from({ length: depth }, () => "..").join("/");
}

function manifestOf(folder: ProjectFolder): JsonObject {
  return objectOf(folder.data("package.json")) ?? {};
}

function patternsIn(root: ProjectFolder): string[] {
  const manifest = objectOf(root.data("package.json"));
  const workspaces: unknown =
    manifest !== undefined && Object.hasOwn(manifest, "workspaces") ? manifest["workspaces"] : [];
  const all = [
    objectOf(root.data("pnpm-workspace.yaml"))?.["packages"],
    Array.isArray(workspaces) ? workspaces : objectOf(workspaces)?.["packages"],
    root.has("lerna.json") ? (objectOf(root.data("lerna.json"))?.["packages"] ?? ["packages/*"]) : [],
  ];
  const lists = all.map((list) => (Array.isArray(list) ? list.slice(0, MAX_PATTERNS) : []));
  const texts = lists.find((list) => list.length > 0)?.filter((pattern) => typeof pattern === "string") ?? [];
  return texts.map((pattern) => pattern.replace(/^(!?)(?:\.?\/)+/, "$1").replace(/\/+$/, ""));
}

function membersOf(root: ProjectFolder, patterns: readonly string[]): string[] {
  const without = patterns.filter((pattern) => pattern.startsWith("!")).map((pattern) => partsOf(pattern.slice(1)));
  const found = new Set<string>();
  const walk = { left: MAX_FOLDERS };
  for (const pattern of new Set(patterns.filter((one) => !one.startsWith("!")))) {
    for (const path of foldersLike(root, partsOf(pattern), walk)) if (root.has(`${path}/package.json`)) found.add(path);
  }
  return [...found]
    .filter((path) => isPlainPath(path) && !without.some((parts) => fits(partsOf(path), parts)))
    .toSorted()
    .slice(0, MAX_MEMBERS);
}

/** Finds the folders that match a pattern, level by level, until `walk.left` folders have been searched. */
function foldersLike(root: ProjectFolder, pattern: readonly string[], walk: { left: number }): Set<string> {
  let level = [""];
  const found = new Set<string>();
  for (let depth = 0; depth < MAX_DEPTH && (depth < pattern.length || pattern.includes("**")); depth++) {
    const looked = level.slice(0, walk.left);
    walk.left -= looked.length;
    level = looked.flatMap((path) => foldersIn(root, path).filter((inner) => begins(partsOf(inner), pattern)));
    for (const path of level) if (fits(partsOf(path), pattern)) found.add(path);
  }
  return found;
}

function foldersIn(root: ProjectFolder, path: string): string[] {
  const names = (path === "" ? root : root.at(path)).folders().filter((name) => name !== "node_modules");
  return names.map((name) => (path === "" ? name : `${path}/${name}`));
}

/** Returns whether a path below this one may match the pattern. */
function begins(path: readonly string[], pattern: readonly string[]): boolean {
  for (const [index, part] of path.entries()) {
    if (pattern[index] === "**") return true;
    if (pattern[index] === undefined || !isLike(part, pattern[index])) return false;
  }
  return true;
}

function fits(path: readonly string[], pattern: readonly string[]): boolean {
  const [part, ...rest] = pattern.slice(0, 10);
  if (part === undefined) return path.length === 0;
  if (part === "**") return fits(path, rest) || (path.length > 0 && fits(path.slice(1), pattern));
  return path.length > 0 && isLike(path[0]!, part) && fits(path.slice(1), rest);
}

/** Returns whether a name matches a pattern in which `*` stands for any text. */
function isLike(name: string, pattern: string): boolean {
  const pieces = pattern.split("*");
  if (pieces.length === 1) return name === pattern;
  const [first, last] = [pieces[0]!, pieces.at(-1)!];
  if (!name.startsWith(first) || !name.endsWith(last) || name.length < first.length + last.length) return false;
  let at = first.length;
  for (const piece of pieces.slice(1, -1)) {
    const found = name.indexOf(piece, at);
    if (found === -1 || found + piece.length > name.length - last.length) return false;
    at = found + piece.length;
  }
  return true;
}

function partsOf(path: string): string[] {
  return path.split("/").filter((part) => part !== "" && part !== ".");
}
