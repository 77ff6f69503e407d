import { type JsonObject, memberOf, objectOf, textOf } from "../../text/json_text.ts";
import { managerVersion } from "./manager_versions.ts";
import { pathToRoot, type Workspace } from "./workspace.ts";
import type { ProjectFolder } from "../../project_folder.ts";

export type ManagerName = "npm" | "pnpm" | "yarn" | "bun";

/** A package manager and its commands. */
export interface PackageManager {
  readonly name: ManagerName;
  /** The version that the project requires: an exact one, or a line such as `9`. */
  readonly version: string | undefined;
  /** The folder of its lockfile and settings. */
  readonly home: ProjectFolder;
  readonly lockfile: string | undefined;
  /** `undefined` when there is nothing to install. */
  readonly install: string | undefined;
  /** The prefix that runs a script by its name. */
  readonly run: string;
  /** The prefix that runs a program of an installed package. */
  readonly exec: string;
  /** Runs a program of the project itself. */
  readonly node: string;
  readonly warnings: readonly string[];
}

interface Row {
  readonly name: ManagerName;
  readonly lockfiles: readonly string[];
  /** Files that only this manager reads. */
  readonly signs: readonly string[];
  readonly exec: string;
}

const ROWS: readonly Row[] = [
  { name: "bun", lockfiles: ["bun.lock", "bun.lockb"], signs: ["bunfig.toml", ".bun-version"], exec: "bunx" },
  {
    name: "pnpm",
    lockfiles: ["pnpm-lock.yaml"],
    signs: ["pnpm-workspace.yaml", ".pnpmfile.cjs"],
    exec: "pnpm exec",
  },
  { name: "yarn", lockfiles: ["yarn.lock"], signs: [".yarnrc.yml", ".yarnrc"], exec: "yarn" },
  { name: "npm", lockfiles: ["package-lock.json", "npm-shrinkwrap.json"], signs: [], exec: "npx" },
];

/** Files of package managers whose text is read. */
export const MANAGER_FILES = ["yarn.lock", "pnpm-lock.yaml", ".yarnrc.yml"] as const;

/** Further input for choosing a package manager. */
export interface ManagerSurroundings {
  /** The workspace that the package belongs to. */
  readonly workspace?: Workspace | undefined;
  /** The default when no file decides. */
  readonly fallback?: ManagerName;
}

/**
 * Picks the package manager by `packageManager` or `devEngines`, else by lockfile, else by other signs, else the
 * fallback.
 */
export function packageManager(
  folder: ProjectFolder,
  manifest: JsonObject,
  { workspace, fallback = "npm" }: ManagerSurroundings = {},
): PackageManager {
  const home = workspace?.root ?? folder;
  const manifests = [manifest, ...(workspace === undefined ? [] : [workspace.manifest])];
  const locked = ROWS.filter(({ lockfiles }) => home.first(lockfiles) !== undefined);
  const declared = declaredManager(manifests);
  const named = (name: string | undefined) => ROWS.find((row) => row.name === name);
  const row =
    named(declared) ?? locked[0] ?? named(hinted(home, manifests)) ?? lockedAbove(home) ?? named(fallback) ?? ROWS[3]!;
  const lockfile = home.first(row.lockfiles);
  const version = managerVersion(row.name, { home, manifests });
  const berry = row.name === "yarn" && Number.parseInt(version ?? "1", 10) >= 2;
  const installed: Installed = { row, berry, pnp: berry && plugsIn(home), isLocked: lockfile !== undefined };
  const needed = manifests.some((one) => hasDependencies(one) || Object.hasOwn(one, "workspaces"));
  return {
    name: row.name,
    version,
    home,
    lockfile,
    install: needed ? installCommand(installed, workspace && pathToRoot(workspace, folder)) : undefined,
    run: `${row.name} run`,
    exec: row.exec,
    node: installed.pnp ? "yarn node" : "node",
    warnings: warningsOf(home, row, locked),
  };
}

interface Installed {
  readonly row: Row;
  readonly berry: boolean;
  /** Whether Node finds packages only through Yarn (Plug'n'Play). */
  readonly pnp: boolean;
  readonly isLocked: boolean;
}

function installCommand({ row: { name }, berry, pnp, isLocked }: Installed, way: string | undefined): string {
  switch (name) {
    case "npm": {
      const command = isLocked ? "npm ci" : "npm install";
      // In a member's folder, npm would omit what the root needs to build; with --prefix, it would not read the host's
      // settings.
      return way === undefined ? command : `(cd ${way} && ${command})`;
    }
    case "yarn":
      if (!berry) return `yarn install${isLocked ? " --frozen-lockfile" : ""}`;
      // Another user runs the program later, whose home has no package cache.
      return `${pnp ? "YARN_ENABLE_GLOBAL_CACHE=false " : ""}yarn install ${isLocked ? "--immutable" : "--no-immutable"}`;
    default:
      return `${name} install${isLocked ? " --frozen-lockfile" : ""}`;
  }
}

function declaredManager(manifests: readonly JsonObject[]): string | undefined {
  for (const manifest of manifests) {
    const declared = /^(npm|pnpm|yarn|bun)@/.exec(textOf(manifest, "packageManager") ?? "")?.[1];
    const written: unknown = memberOf(manifest, "devEngines")?.["packageManager"];
    const wanted = textOf(objectOf(Array.isArray(written) ? written[0] : written), "name");
    if (declared !== undefined || wanted !== undefined) return declared ?? wanted;
  }
  return undefined;
}

/** Weaker signs than a lockfile. */
function hinted(home: ProjectFolder, manifests: readonly JsonObject[]): string | undefined {
  const written = ["engines", "volta"].flatMap((key) => manifests.map((manifest) => memberOf(manifest, key)));
  const byEngine = ["pnpm", "yarn", "bun"].find((name) => written.some((member) => textOf(member, name) !== undefined));
  return ROWS.find(({ signs }) => home.first(signs) !== undefined)?.name ?? byEngine;
}

/** Assumes that a project uses the same package manager as the folders above it. */
function lockedAbove(home: ProjectFolder): Row | undefined {
  return ROWS.find(({ lockfiles }) => home.firstAbove(lockfiles) !== undefined);
}

function plugsIn(home: ProjectFolder): boolean {
  const linker = textOf(objectOf(home.data(".yarnrc.yml")), "nodeLinker");
  return linker === undefined || linker === "pnp";
}

function hasDependencies(manifest: JsonObject): boolean {
  const kinds = ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"];
  return kinds.some((kind) => Object.keys(memberOf(manifest, kind) ?? {}).length > 0);
}

function warningsOf(home: ProjectFolder, row: Row, locked: readonly Row[]): string[] {
  if (locked.length > 1) {
    const names = locked.map(({ lockfiles }) => home.first(lockfiles)).join(", ");
    return [`Cannot be sure of the package manager: there are ${names}. ${row.name} is used; remove the others`];
  }
  if (locked.length === 0 || locked.includes(row)) return [];
  const name = home.first(locked[0]!.lockfiles);
  return [`Cannot install from ${name}: package.json names ${row.name}, which has no lockfile here`];
}
