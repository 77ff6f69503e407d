import type { Finding } from "../../ecosystem.ts";
import { type ImageRecipe, recipe } from "../../image_recipe.ts";
import { type JsonObject, memberOf } from "../../text/json_text.ts";
import { installFiles } from "./install_files.ts";
import type { ManagerName, PackageManager } from "./packages.ts";
import { dependsOn, isMember, type NodePackage, scriptText } from "./package.ts";
import { localDependencies } from "./workspace.ts";

/** Input of `nodeImage`. */
export interface NodeImageOptions {
  readonly project: NodePackage;
  readonly found: Finding;
  readonly runtime: { readonly name: "node" | "bun"; readonly version: string };
  /** The folder that contains everything needed at run time, if that is not the whole project. */
  readonly alone: string | undefined;
}

const CACHES: Readonly<Record<ManagerName, string>> = {
  npm: "/root/.npm",
  pnpm: "/root/.local/share/pnpm/store",
  yarn: "/usr/local/share/.cache/yarn",
  bun: "/root/.bun/install/cache",
};
const BERRY_CACHE = "/root/.yarn/berry/cache";
/** Packages that are compiled on install when there is no prebuilt binary. */
const COMPILED = [
  "argon2",
  "bcrypt",
  "better-sqlite3",
  "bufferutil",
  "canvas",
  "isolated-vm",
  "libxmljs2",
  "node-gyp",
  "node-pty",
  "node-sass",
  "re2",
  "serialport",
  "sqlite3",
  "utf-8-validate",
];
const CHROMIUM = { PUPPETEER_EXECUTABLE_PATH: "/usr/bin/chromium", PUPPETEER_SKIP_DOWNLOAD: "true" };
const FROM_GIT = /^(?:git[+:]|git@|github:|gitlab:|bitbucket:|[\w.-]{1,100}\/[\w.-]{1,100}(?:#|$))/;

/** Creates the image recipe of a package. */
export function nodeImage({ project, found, runtime, alone }: NodeImageOptions): ImageRecipe {
  const { folder, manager, manifest, workspace } = project;
  const wholeRepository = isMember(project);
  const inContext = (path: string) =>
    wholeRepository ? [folder.path, path].filter((part) => part !== ".").join("/") : path;
  const manifests = [
    manifest,
    ...(workspace === undefined ? [] : localDependencies(workspace, manifest).map((one) => one.manifest)),
  ];
  const needs = (names: readonly string[], kinds?: readonly string[]) =>
    manifests.some((one) => names.some((name) => dependsOn(one, name, kinds)));
  const isStatic = found.projectType === "static";
  const kept = isStatic ? (found.outputDirectory ?? ".") : alone;
  const openssl = needs(["prisma", "@prisma/client"]) ? ["openssl"] : [];
  const browses = !isStatic && needs(["puppeteer", "puppeteer-core"], ["dependencies"]);
  return recipe(runtime.name === "bun" ? `oven/bun:${runtime.version}-slim` : `node:${nodeTag(runtime.version)}`, {
    buildPackages: [
      ...(manifests.some(isFromGit) ? ["ca-certificates", "git"] : []),
      ...(needs(COMPILED) ? ["g++", "make", "python3"] : []),
      ...openssl,
    ],
    runPackages: [
      ...(browses ? ["chromium"] : []),
      ...(!isStatic && needs(["fluent-ffmpeg"], ["dependencies"]) ? ["ffmpeg"] : []),
      ...(isStatic ? [] : openssl),
    ],
    setup: setupOf(project, found, runtime.name),
    manifests: installFiles(project).map((path) =>
      wholeRepository && manager.home.path !== "" ? `${manager.home.path}/${path}` : path,
    ),
    caches: manager.install === undefined ? [] : [isBerry(manager) ? BERRY_CACHE : CACHES[manager.name]],
    environment: {
      ...(manager.node === "yarn node" && { YARN_ENABLE_GLOBAL_CACHE: "false" }),
      ...(browses && CHROMIUM),
    },
    runEnvironment: isStatic ? {} : { NODE_ENV: "production" },
    keep: [kept === undefined ? "." : inContext(kept)],
    wholeRepository,
  });
}

/**
 * Picks a tag that exists: versions 22 to 24 and the lines 16 to 21 have `bookworm` images; older exact versions were
 * not rebuilt for that Debian.
 */
function nodeTag(version: string): string {
  const major = Number.parseInt(version, 10);
  const named = major >= 22 ? major <= 24 : major >= 16 && !version.includes(".");
  return named ? `${version}-bookworm-slim` : `${version}-slim`;
}

function isBerry({ name, version }: PackageManager): boolean {
  return name === "yarn" && Number.parseInt(version ?? "1", 10) >= 2;
}

function isFromGit(manifest: JsonObject): boolean {
  const kinds = ["dependencies", "devDependencies", "optionalDependencies"];
  const versions = kinds.flatMap((kind) => Object.values(memberOf(manifest, kind) ?? {}));
  return versions.some((version) => typeof version === "string" && FROM_GIT.test(version));
}

function setupOf({ manager, manifest }: NodePackage, found: Finding, runtime: "node" | "bun"): ImageRecipe["setup"] {
  const commands = [found.installCommand, found.buildCommand, found.startCommand].map((command) => command ?? "");
  const scripts = ["build", "start"].map((name) => scriptText(manifest, name) ?? "");
  const callsBun = runtime === "node" && [...commands, ...scripts].some((command) => calls(command, "bun"));
  const starts = (name: string) =>
    calls(found.startCommand ?? "", name) || calls(found.startCommand ? scripts[1]! : "", name);
  const tools: { readonly name: string; readonly command: string }[] = [];
  const own = managerSetup(manager, manager.install !== undefined);
  if (own !== undefined && commands.some((command) => calls(command, manager.name)))
    tools.push({ name: manager.name, command: own });
  if (callsBun) {
    const version = manager.name === "bun" ? (manager.version ?? "1") : "1";
    tools.push({ name: "bun", command: `npm install --global --allow-scripts=bun bun@${version}` });
  }
  return tools.map(({ name, command }) => ({ command, stages: starts(name) ? ["build", "run"] : ["build"] }));
}

/**
 * Installs the package manager in the version that the project requires; without corepack, which downloads it again for
 * another user.
 */
function managerSetup({ name, version }: PackageManager, installs: boolean): string | undefined {
  const major = Number.parseInt(version ?? "0", 10);
  switch (name) {
    case "pnpm":
      return `npm install --global ${major >= 12 ? "--allow-scripts=pnpm " : ""}pnpm@${version ?? "10"}`;
    case "yarn":
      return `npm install --global --force ${major >= 2 ? "@yarnpkg/cli-dist" : "yarn"}@${version ?? "1"}`;
    case "npm":
      return installs && version !== undefined ? `npm install --global npm@${version}` : undefined;
    default:
      return undefined;
  }
}

function calls(command: string, name: string): boolean {
  return new RegExp(`(?:^|[\\s&;(])${name}x?(?:\\s|$)`).test(command);
}
