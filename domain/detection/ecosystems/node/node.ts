import { type Ecosystem, type Finding, warned } from "../../ecosystem.ts";
import { jsonFault } from "../../text/json_fault.ts";
import { type JsonObject, jsonObject } from "../../text/json_text.ts";
import { nodeVariables, PRISMA_SCHEMAS } from "./env.ts";
import { nodeFinding } from "./finding.ts";
import { CONFIG_FILES, isSiteOf, type NodeFramework, type Refined } from "./framework.ts";
import { NODE_FRAMEWORKS } from "./frameworks.ts";
import { MANAGER_FILES, packageManager } from "./packages.ts";
import { buildInWorkspace } from "./monorepo.ts";
import { NX_FILES, nxApplication, nxApplications } from "./nx.ts";
import { dependsOn, type NodePackage, scriptText } from "./package.ts";
import { entryIn, entryOf, program, TYPED } from "./program.ts";
import { isForDevelopment, portIn, runsProgram, scriptCommand, startScript } from "./scripts.ts";
import { NODE_VERSION_FILES } from "./versions.ts";
import { WORKSPACE_FILES, type Workspace, workspaceMembers, workspaceOf } from "./workspace.ts";
import type { ProjectFolder } from "../../project_folder.ts";
import { TOOL_VERSION_FILES } from "../../tool_versions.ts";

const MANIFESTS = [
  "package.json",
  "angular.json",
  "app.json",
  "nest-cli.json",
  "tsconfig.json",
  "schema.prisma",
  ".eleventy.js",
  CONFIG_FILES,
  ...MANAGER_FILES,
  ...NODE_VERSION_FILES,
  ...NX_FILES,
  ...TOOL_VERSION_FILES,
  ...WORKSPACE_FILES,
];

/** Projects with a package.json, and Nx applications without one. */
export const node: Ecosystem = {
  manifests: MANIFESTS,
  detect(folder) {
    if (!folder.has("package.json")) return nxApplication(folder);
    const text = folder.text("package.json");
    const manifest = text === undefined ? undefined : jsonObject(text);
    if (manifest === undefined) return { language: language(folder), warnings: [unreadable(text)], broken: true };
    return describe(folder, manifest);
  },
  members: (folder) => [...workspaceMembers(folder), ...nxApplications(folder)],
};

function unreadable(text: string | undefined): string {
  const reason = text === undefined ? "it is too large or gone" : (faultIn(text) ?? "it is not a JSON object");
  return `Cannot read package.json: ${reason}. Correct it, or set startCommand on the project`;
}

function faultIn(text: string): string | undefined {
  if (text.trim() === "") return "it is empty";
  const fault = jsonFault(text);
  return fault && `in line ${fault.line} ${fault.reason}`;
}

function describe(folder: ProjectFolder, manifest: JsonObject): Finding {
  const workspace = usableWorkspace(folder);
  const fallback = dependsOn(manifest, "elysia") || startsByBun(manifest) ? "bun" : "npm";
  const manager = packageManager(folder, manifest, { workspace, fallback });
  const isRoot = workspace?.root.path === folder.path && workspace.members.length > 0;
  const holdsOthers = isRoot || nxApplications(folder).length > 0;
  const project: NodePackage = { folder, manifest, workspace, manager, holdsOthers };
  const framework = NODE_FRAMEWORKS.find((candidate) => fits(candidate, project));
  const env = nodeVariables(folder, manifest);
  const found: Finding = {
    language: language(folder, manifest),
    packageManager: manager.name,
    packageManagerVersion: manager.version ?? null,
    installCommand: manager.install ?? null,
    warnings: manager.warnings,
    ...(env.length > 0 && { env }),
  };
  if (framework?.kind === "site") return site(project, framework, found);
  const build = buildInWorkspace(project, ownBuild(project));
  const more = framework && { framework: framework.name, port: framework.port ?? null };
  return nodeFinding(project, program(project, { ...found, buildCommand: build ?? null, ...more }), { isSite: false });
}

/** A member with its own lockfile is installed on its own if the workspace root has none. */
function usableWorkspace(folder: ProjectFolder): Workspace | undefined {
  const workspace = workspaceOf(folder);
  const lockfiles = ["bun.lock", "bun.lockb", "pnpm-lock.yaml", "yarn.lock", "package-lock.json"];
  if (workspace === undefined || workspace.root.path === folder.path) return workspace;
  return workspace.root.first(lockfiles) === undefined && folder.first(lockfiles) !== undefined ? undefined : workspace;
}

function startsByBun(manifest: JsonObject): boolean {
  return /(?:^|\s)bun\s/.test(scriptText(manifest, "start") ?? "");
}

function fits(framework: NodeFramework, project: NodePackage): boolean {
  if (framework.kind === "site") return isSiteOf(framework, project);
  const { folder, manifest } = project;
  if (!framework.packages.some((name) => dependsOn(manifest, name, ["dependencies"]))) return false;
  // A page with such a library among its dependencies, for example to mock its API, is still a page.
  const start = scriptText(manifest, "start");
  if (startScript(manifest) !== undefined) return start === undefined || !isForDevelopment(start);
  return start === undefined && !folder.has("index.html") && entryOf(project) !== undefined;
}

/** The command that builds the package: its own script, else the framework's program. */
function ownBuild({ folder, manifest, manager }: NodePackage, tool?: string): string | undefined {
  const script = ["build", "heroku-postbuild", "gcp-build"].find((name) => scriptText(manifest, name) !== undefined);
  const byTool = tool?.startsWith("node ") ? `${manager.node}${tool.slice(4)}` : tool && `${manager.exec} ${tool}`;
  const build = script === undefined ? byTool : `${manager.run} ${script}`;
  const scripts = ["build", "prebuild", "postinstall", "prepare"].map((name) => scriptText(manifest, name) ?? "");
  const generates = dependsOn(manifest, "prisma") && folder.first(PRISMA_SCHEMAS) !== undefined;
  // Only some package managers generate the client on install, and none does from Prisma 7 on.
  if (!generates || scripts.some((text) => text.includes("prisma generate"))) return build;
  return [`${manager.exec} prisma generate`, ...(build === undefined ? [] : [build])].join(" && ");
}

/** Describes a project of a framework that defines how it is built and served. */
function site(project: NodePackage, framework: NodeFramework, found: Finding): Finding {
  const { serve, alone, afterBuild = [], buildVariable, warnings = [], ...refined } = refinedBy(framework, project);
  const build = buildInWorkspace(project, ownBuild(project, framework.build), buildVariable);
  const built: Finding = {
    ...found,
    framework: framework.name,
    buildCommand: withAfter(build, afterBuild) ?? null,
    outputDirectory: framework.output ?? null,
    projectType: framework.static ? "static" : "app",
    ...refined,
  };
  if (built.projectType === "static") return nodeFinding(project, warned(built, ...warnings), { isSite: true });
  const { command, isOwn, text } = siteStart(project, framework, serve);
  const started: Finding = {
    ...built,
    startCommand: refined.startCommand === null ? null : (command ?? null),
    port: portIn(text) ?? refined.port ?? framework.port ?? null,
  };
  const isAlone = !isOwn && !project.folder.has("Procfile") && !dependsOn(project.manifest, "prisma");
  return nodeFinding(project, warned(started, ...warnings), { isSite: true, alone: isAlone ? alone : undefined });
}

function refinedBy(framework: NodeFramework, project: NodePackage): Refined {
  const { serve, alone } = framework;
  const preset: Refined = { ...(serve !== undefined && { serve }), ...(alone !== undefined && { alone }) };
  return { ...preset, ...framework.refine?.(project) };
}

function withAfter(build: string | undefined, after: readonly string[]): string | undefined {
  if (build === undefined || after.length === 0) return build;
  return [build.startsWith("cd ") ? `(${build})` : build, ...after].join(" && ");
}

/** Picks the start command of a site: a program of the project, else the framework's best server, else its script. */
function siteStart(project: NodePackage, { start }: NodeFramework, serve: string | undefined) {
  const { manifest, manager } = project;
  const name = startScript(manifest);
  const text = name === undefined ? undefined : scriptText(manifest, name);
  const script = name === undefined ? undefined : scriptCommand(project, name);
  const isOwn = name !== "start" || (runsProgram(text ?? "") && !isSameProgram(text ?? "", serve));
  if (script !== undefined && isOwn) return { command: script, isOwn, text };
  if (serve !== undefined) return { command: serve, isOwn: false, text: undefined };
  const byFramework = start === undefined ? undefined : `${manager.exec} ${start}`;
  return { command: script ?? byFramework, isOwn: script !== undefined, text };
}

/** Returns whether a script runs the same program as the framework's command, possibly from inside the build folder. */
function isSameProgram(script: string, serve: string | undefined): boolean {
  const [theirs, ours] = [lastWord(script), lastWord(serve ?? "")];
  // A script with several commands does something of its own first.
  if (/[&;|]/.test(script)) return false;
  return ours !== "" && (theirs === ours || ours.endsWith(`/${theirs}`));
}

function language(folder: ProjectFolder, manifest: JsonObject = {}): string {
  const start = scriptText(manifest, "start") ?? "";
  const typed = folder.has("tsconfig.json") || dependsOn(manifest, "typescript") || /\.[mc]?tsx?(?:\s|$)/.test(start);
  return typed || TYPED.test(entryIn(folder) ?? "") ? "typescript" : "javascript";
}

function lastWord(command: string): string {
  return (command.trim().split(/\s+/).at(-1) ?? "").replace(/^\.\//, "").replace(/\.js$/, "");
}
