import { type Ecosystem, type Finding, warned } from "./ecosystem.ts";
import { type JsonObject, jsonObject, memberOf, textOf } from "./json_text.ts";
import { NODE_FRAMEWORKS, type NodeFramework } from "./node_frameworks.ts";
import { dependsOn, type PackageManager, packageManager } from "./node_packages.ts";
import type { ProjectFolder } from "./project_folder.ts";
import { staticSite } from "./static_site.ts";

const ENTRY_NAMES = ["server", "app", "index", "main"];
const ENTRY_ENDINGS = ["js", "mjs", "cjs", "ts", "mts"];
const ENTRIES = ["", "src/"].flatMap((folder) =>
  ENTRY_NAMES.flatMap((name) => ENTRY_ENDINGS.map((ending) => `${folder}${name}.${ending}`)),
);
/** Start scripts that serve for development only. */
const DEVELOPMENT =
  /^\s*(?:npx |bunx )?(?:vite|react-scripts start|vue-cli-service serve|ng serve|parcel|webpack(?:-dev-server)? serve)\b(?! preview)/;
/** Start scripts that run a program rather than a tool of the framework. */
const RUNS_PROGRAM = /(?:^|\s)(?:node|bun|tsx)\s/;
const NO_START =
  "Cannot tell how to start the project: package.json has no start script and there is no index.js or server.js. Set the start command";

/** What is known while a package.json is looked at. */
interface Package {
  readonly folder: ProjectFolder;
  readonly manifest: JsonObject;
  readonly manager: PackageManager;
  readonly scripts: JsonObject | undefined;
}

/** Projects with a package.json. */
export const node: Ecosystem = {
  manifests: ["package.json", "angular.json", /^(?:next|vite)\.config\.[cm]?[jt]s$/],
  detect(folder) {
    if (!folder.has("package.json")) return undefined;
    const text = folder.text("package.json");
    const manifest = text === undefined ? undefined : jsonObject(text);
    if (manifest === undefined) return { language: language(folder), warnings: [unreadable(text)], broken: true };
    return describe(folder, manifest);
  },
};

function unreadable(text: string | undefined): string {
  const reason = text === undefined ? "it is too large or gone" : "it is not a JSON object";
  return `Cannot read package.json: ${reason}. Correct it, or set the commands yourself`;
}

function describe(folder: ProjectFolder, manifest: JsonObject): Finding {
  const framework = NODE_FRAMEWORKS.find((candidate) => fits(candidate, folder, manifest));
  const manager = packageManager(folder, manifest, framework?.name === "elysia" ? "bun" : "npm");
  const project: Package = { folder, manifest, manager, scripts: memberOf(manifest, "scripts") };
  const found: Finding = {
    language: language(folder, manifest),
    packageManager: manager.name,
    installCommand: manager.install ?? null,
    buildCommand: script(project, "build") ?? null,
    warnings: manager.warnings,
  };
  if (framework === undefined || framework.kind === "server") {
    return program(project, {
      ...found,
      ...(framework && { framework: framework.name, port: framework.port ?? null }),
    });
  }
  return site(project, framework, found);
}

function fits({ packages, kind, needs }: NodeFramework, folder: ProjectFolder, manifest: JsonObject): boolean {
  if (needs !== undefined && folder.first(needs) === undefined) return false;
  if (kind === "site") return packages.some((name) => dependsOn(manifest, name));
  if (!packages.some((name) => dependsOn(manifest, name, ["dependencies"]))) return false;
  // A page with such a library among its dependencies, for a mock of its API perhaps, is still a page.
  const start = textOf(memberOf(manifest, "scripts"), "start");
  return start === undefined
    ? !folder.has("index.html") && entry(folder, manifest) !== undefined
    : !DEVELOPMENT.test(start);
}

/** A framework that knows how it is built and served. */
function site(project: Package, framework: NodeFramework, found: Finding): Finding {
  const { exec } = project.manager;
  const built: Finding = {
    ...found,
    framework: framework.name,
    buildCommand: found.buildCommand ?? (framework.build === undefined ? null : `${exec} ${framework.build}`),
    outputDirectory: framework.output ?? null,
  };
  const { warnings = [], ...refined } = framework.refine?.(project.folder, project.manifest, exec) ?? {};
  if (framework.static) return warned({ ...built, projectType: "static", ...refined }, ...warnings);
  const own = RUNS_PROGRAM.test(textOf(project.scripts, "start") ?? "") ? script(project, "start") : undefined;
  const start =
    script(project, "start:prod") ??
    own ??
    framework.serve ??
    script(project, "start") ??
    (framework.start === undefined ? null : `${exec} ${framework.start}`);
  const port = portOf(project) ?? framework.port ?? null;
  return warned({ ...built, projectType: "app", startCommand: start, port, ...refined }, ...warnings);
}

/** A program of the project's own. */
function program(project: Package, found: Finding): Finding {
  const { folder, manifest, manager } = project;
  const running: Finding = { ...found, projectType: "app", port: portOf(project) ?? found.port ?? 3000 };
  const started = script(project, "start:prod") ?? script(project, "start");
  if (started !== undefined) return { ...running, startCommand: started };
  // A script beside a page is for the browser, not for the server.
  const pages = found.framework ? undefined : staticSite.detect(folder);
  if (pages !== undefined) return { ...found, ...pages, language: found.language ?? null };
  const path = entry(folder, manifest);
  if (path === undefined) return warned({ ...found, projectType: "app" }, NO_START);
  const startCommand = `${manager.name === "bun" ? "bun" : "node"} ${path}`;
  if (manager.name === "bun" || !/\.m?ts$/.test(path)) return { ...running, startCommand };
  return warned(
    { ...running, startCommand },
    `Cannot be sure that ${path} starts: Node runs TypeScript from version 22.18 on. Add a start script`,
  );
}

function script({ scripts, manager }: Package, name: string): string | undefined {
  return textOf(scripts, name) === undefined ? undefined : `${manager.run} ${name}`;
}

function entry(folder: ProjectFolder, manifest: JsonObject): string | undefined {
  return folder.commandPath(textOf(manifest, "main")) ?? folder.first(ENTRIES);
}

function portOf({ scripts }: Package): number | undefined {
  const found = /(?:--port|-p|\bPORT)[ =](\d{2,5})\b/.exec(textOf(scripts, "start") ?? "")?.[1];
  return found === undefined || Number(found) > 65_535 ? undefined : Number(found);
}

function language(folder: ProjectFolder, manifest: JsonObject = {}): string {
  const typed = folder.has("tsconfig.json") || dependsOn(manifest, "typescript");
  return typed ? "typescript" : "javascript";
}
