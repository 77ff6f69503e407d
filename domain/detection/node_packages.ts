import { type JsonObject, memberOf, textOf } from "./json_text.ts";
import type { ProjectFolder } from "./project_folder.ts";

/** A package manager with the commands that it takes. */
export interface PackageManager {
  readonly name: "npm" | "pnpm" | "yarn" | "bun";
  /** `undefined` when there is nothing to install. */
  readonly install: string | undefined;
  /** Before the name of a script. */
  readonly run: string;
  /** Before a program of an installed package. */
  readonly exec: string;
  readonly warnings: readonly string[];
}

interface Row {
  readonly name: PackageManager["name"];
  readonly lockfiles: readonly string[];
  readonly install: string;
  readonly installLocked: string;
  readonly exec: string;
}

const ROWS: readonly Row[] = [
  {
    name: "bun",
    lockfiles: ["bun.lock", "bun.lockb"],
    install: "bun install",
    installLocked: "bun install --frozen-lockfile",
    exec: "bunx",
  },
  {
    name: "pnpm",
    lockfiles: ["pnpm-lock.yaml"],
    install: "pnpm install",
    installLocked: "pnpm install --frozen-lockfile",
    exec: "pnpm exec",
  },
  {
    name: "yarn",
    lockfiles: ["yarn.lock"],
    install: "yarn install",
    installLocked: "yarn install --frozen-lockfile",
    exec: "yarn",
  },
  {
    name: "npm",
    lockfiles: ["package-lock.json", "npm-shrinkwrap.json"],
    install: "npm install",
    installLocked: "npm ci",
    exec: "npx",
  },
];

const DEPENDENCIES = ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"];

/** The package manager by the `packageManager` field, else by lockfile here or above, else the fallback. */
export function packageManager(
  folder: ProjectFolder,
  manifest: JsonObject,
  fallback: PackageManager["name"] = "npm",
): PackageManager {
  const locked = ROWS.filter(({ lockfiles }) => folder.firstAbove(lockfiles) !== undefined);
  const declared = /^(npm|pnpm|yarn|bun)@/.exec(textOf(manifest, "packageManager") ?? "")?.[1];
  const row = ROWS.find(({ name }) => name === declared) ?? locked[0] ?? ROWS.find(({ name }) => name === fallback)!;
  const warnings: string[] = [];
  if (locked.length > 1) {
    const names = locked.map(({ lockfiles }) => folder.firstAbove(lockfiles)).join(", ");
    warnings.push(`Cannot be sure of the package manager: there are ${names}. ${row.name} is used; remove the others`);
  } else if (locked.length === 1 && !locked.includes(row)) {
    const name = folder.firstAbove(locked[0]!.lockfiles);
    warnings.push(`Cannot install from ${name}: package.json names ${row.name}, which has no lockfile here`);
  }
  const install = locked.includes(row) ? lockedInstall(row, folder, manifest) : row.install;
  const needed = hasDependencies(manifest) || Object.hasOwn(manifest, "workspaces");
  return { name: row.name, install: needed ? install : undefined, run: `${row.name} run`, exec: row.exec, warnings };
}

/** Tells whether a package is among the dependencies, those for development included unless left out. */
export function dependsOn(manifest: JsonObject, name: string, kinds: readonly string[] = DEPENDENCIES): boolean {
  return kinds.some((kind) => Object.hasOwn(memberOf(manifest, kind) ?? {}, name));
}

function hasDependencies(manifest: JsonObject): boolean {
  return DEPENDENCIES.some((kind) => Object.keys(memberOf(manifest, kind) ?? {}).length > 0);
}

/** Yarn renamed the option in its second version. */
function lockedInstall(row: Row, folder: ProjectFolder, manifest: JsonObject): string {
  const modern = /^yarn@[2-9]/.test(textOf(manifest, "packageManager") ?? "") || folder.firstAbove([".yarnrc.yml"]);
  return row.name === "yarn" && modern ? "yarn install --immutable" : row.installLocked;
}
