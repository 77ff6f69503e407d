import type { Finding } from "../../ecosystem.ts";
import { type JsonObject, memberOf, objectOf, textOf } from "../../text/json_text.ts";
import { nodeFinding } from "./finding.ts";
import { configCode } from "./framework.ts";
import { packageManager } from "./packages.ts";
import { dependsOn, type NodePackage } from "./package.ts";
import { pathToRoot, type Workspace } from "./workspace.ts";
import { plainPackage, plainPath } from "../../plain_names.ts";
import type { ProjectFolder } from "../../project_folder.ts";
import { settingIn } from "../../text/script_text.ts";

/** Files that describe Nx projects. */
export const NX_FILES = ["project.json"] as const;

const MAX_DEPTH = 3;
const MAX_PROJECTS = 200;
/** How many folders of one level are searched. */
const MAX_FOLDERS = 500;
const NO_PROJECTS = /^(?:\..*|node_modules|dist|tmp)$/;
const SERVERS = [
  ["@nestjs/core", "nestjs"],
  ["fastify", "fastify"],
  ["koa", "koa"],
  ["express", "express"],
] as const;

/** An Nx application, with the parts of its commands. */
interface NxApplication {
  readonly folder: ProjectFolder;
  readonly workspace: Workspace;
  readonly name: string;
  /** The application's folder, relative to the root. */
  readonly path: string;
  /** The relative path from the application's folder to the root. */
  readonly way: string;
  /** The executor of its build, and the options of that executor. */
  readonly executor: string;
  readonly options: JsonObject | undefined;
  /** The output folder of its build, relative to the root. */
  readonly output: string;
  readonly exec: string;
}

/** The folders of the applications in an Nx workspace that share one package.json. */
export function nxApplications(root: ProjectFolder): readonly string[] {
  return root.has("nx.json") ? root.once("applications of Nx", applicationsIn) : [];
}

function applicationsIn(root: ProjectFolder): string[] {
  let level = [""];
  const found: string[] = [];
  for (let depth = 0; depth < MAX_DEPTH; depth++) {
    level = level.slice(0, MAX_FOLDERS).flatMap((path) => foldersIn(root, path));
    found.push(...level.filter((path) => isApplication(objectOf(root.data(`${path}/project.json`)))));
  }
  return found.slice(0, MAX_PROJECTS);
}

function foldersIn(root: ProjectFolder, path: string): string[] {
  const names = (path === "" ? root : root.at(path)).folders();
  return names.filter((name) => !NO_PROJECTS.test(name)).map((name) => (path === "" ? name : `${path}/${name}`));
}

/** Describes an Nx application without its own package.json. */
export function nxApplication(folder: ProjectFolder): Finding | undefined {
  const settings = objectOf(folder.data("project.json"));
  const root = folder.outward().find((place) => place.has("nx.json") && place.has("package.json"));
  const manifest = objectOf(root?.data("package.json"));
  if (root === undefined || manifest === undefined || !isApplication(settings)) return undefined;
  const path = root.path === "" ? folder.path : folder.path.slice(root.path.length + 1);
  const name = plainPackage(textOf(settings, "name") ?? path.split("/").at(-1));
  if (name === undefined || plainPath(path) !== path) return undefined;
  const workspace: Workspace = { root, manifest, members: [], needed: new Set() };
  const manager = packageManager(root, manifest);
  const way = pathToRoot(workspace, folder)!;
  const build = memberOf(memberOf(settings, "targets"), "build");
  const options = memberOf(build, "options");
  const application: NxApplication = {
    folder,
    workspace,
    name,
    path,
    way,
    executor: textOf(build, "executor") ?? textOf(memberOf(memberOf(settings, "targets"), "serve"), "executor") ?? "",
    options,
    output: plainPath(textOf(options, "outputPath")) ?? outputOf(folder, way, path),
    exec: manager.exec,
  };
  const project: NodePackage = { folder, manifest, workspace, manager, holdsOthers: false };
  const found: Finding = {
    language: folder.has("tsconfig.json") ? "typescript" : "javascript",
    packageManager: manager.name,
    packageManagerVersion: manager.version ?? null,
    installCommand: manager.install === undefined ? null : `cd ${way} && ${manager.install}`,
    buildCommand: `cd ${way} && ${manager.exec} nx run ${name}:build`,
    warnings: manager.warnings,
    ...servedBy(application),
  };
  return nodeFinding(project, found, { isSite: true });
}

function isApplication(settings: JsonObject | undefined): boolean {
  return textOf(settings, "projectType") === "application" && !textOf(settings, "name")?.endsWith("-e2e");
}

/** The output folder, relative to the root; Vite's `outDir` is relative to the application's folder. */
function outputOf(folder: ProjectFolder, way: string, path: string): string {
  const written = settingIn(configCode(folder, "vite"), "outDir");
  if (written === undefined) return folder.has("index.html") ? `${path}/dist` : `dist/${path}`;
  return written.startsWith(`${way}/`)
    ? (plainPath(written.slice(way.length + 1)) ?? `dist/${path}`)
    : `${path}/${plainPath(written) ?? "dist"}`;
}

function servedBy(application: NxApplication): Finding {
  const { exec, executor, folder, options, output, path, way, workspace } = application;
  if (/[@/]next[:@]/.test(executor) || configCode(folder, "next") !== "") {
    const built = executor.includes("next") ? output : path;
    return { framework: "nextjs", port: 3000, startCommand: `cd ${way} && ${exec} next start ${built}` };
  }
  if (executor.includes("angular")) {
    return asFiles(application, "angular", executor.endsWith(":browser") ? output : `${output}/browser`);
  }
  const isServer = textOf(options, "target") === "node" || /^@n[rx]w?l?\/(?:js|node|nest|esbuild):/.test(executor);
  if (!isServer) return asFiles(application, configCode(folder, "vite") === "" ? null : "vite", output);
  const framework = SERVERS.find(([name]) => dependsOn(workspace.manifest, name))?.[1] ?? null;
  return { framework, port: 3000, startCommand: `node ${way}/${output}/main.js` };
}

/** Copies output from elsewhere into the application's folder, from which it is served. */
function asFiles({ name, path, way, exec }: NxApplication, framework: string | null, output: string): Finding {
  const found: Finding = { framework, projectType: "static" };
  if (output.startsWith(`${path}/`)) return { ...found, outputDirectory: output.slice(path.length + 1) };
  const copied = `rm -rf ${path}/dist && cp -r ${output} ${path}/dist`;
  return {
    ...found,
    outputDirectory: "dist",
    buildCommand: `cd ${way} && ${exec} nx run ${name}:build && ${copied}`,
  };
}
