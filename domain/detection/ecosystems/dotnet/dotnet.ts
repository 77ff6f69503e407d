import type { DetectedVariable } from "../../detection.ts";
import { type DotnetKind, dotnetProjects, type DotnetProject, projectFiles } from "./project.ts";
import { type Ecosystem, type Finding, warned } from "../../ecosystem.ts";
import { recipe } from "../../image_recipe.ts";
import { memberOf, objectOf, textOf } from "../../text/json_text.ts";
import type { ProjectFolder } from "../../project_folder.ts";

const SOLUTION = /\.slnx?$/;
const PROJECT = /\.(?:cs|fs|vb)proj$/;
const PLAIN = /^[\w./-]+$/;
const PRESET = "10.0";
const RUNNABLE: readonly DotnetKind[] = ["web", "wasm", "worker", "console"];
const PREFERRED = /(?:^|[./-])(?:web|api|app|server|site|host)$/i;
const RESTORED = [
  "global.json",
  "Directory.Build.props",
  "Directory.Build.targets",
  "Directory.Packages.props",
  "NuGet.config",
  "nuget.config",
  "NuGet.Config",
];
const REGISTRY = "mcr.microsoft.com/dotnet";
const OUTPUT = "bin/publish";

/** .NET projects: web applications, workers, programs and Blazor pages in C#, F# and Visual Basic. */
export const dotnet: Ecosystem = {
  manifests: [PROJECT, "Directory.Build.props", "global.json", "appsettings.json"],
  detect(folder) {
    const names = folder.names();
    if (!names.some((name) => PROJECT.test(name) || SOLUTION.test(name))) return undefined;
    const projects = dotnetProjects(folder);
    const { chosen, warnings } = projectOf(projects);
    const found: Finding = { language: chosen?.language ?? projects[0]?.language ?? "csharp", packageManager: "nuget" };
    if (chosen === undefined) return warned(found, projects.some(isOld) ? OLD : NO_PROGRAM);
    if (isOld(chosen)) return warned(found, OLD);
    return warned(describe(folder, chosen, found), ...warnings);
  },
};

const NO_PROGRAM =
  "Cannot tell how to start the project: none of its project files makes a program. Set OutputType to Exe in one, or set the start command";
const NO_NAME =
  "Cannot tell how to start the project: the name of its assembly cannot be used in a command. Set AssemblyName to a plain name, or set the start command";
const OLD =
  "Cannot build for .NET Framework: it runs on Windows only. Move the project to a current target framework such as net10.0";

/** Picks the project to start: prefers projects at the root, and among those a server over other programs. */
function projectOf(projects: readonly DotnetProject[]): {
  readonly chosen?: DotnetProject;
  readonly warnings: readonly string[];
} {
  const runnable = projects.filter(({ kind }) => RUNNABLE.includes(kind));
  const here = runnable.filter(({ path }) => !path.includes("/"));
  const among = here.length > 0 ? here : runnable;
  const best = RUNNABLE.map((kind) => among.filter((project) => project.kind === kind)).find((some) => some.length > 0);
  const [first, ...others] = best ?? [];
  if (first === undefined || best === undefined) return { warnings: [] };
  if (others.length === 0) return { chosen: first, warnings: [] };
  const chosen = best.find(({ path }) => PREFERRED.test(path.replace(PROJECT, ""))) ?? first;
  const all = best.slice(0, 10).map(({ path }) => path);
  return {
    chosen,
    warnings: [
      `Cannot be sure what to start: ${all.join(", ")} make programs. ${chosen.path} is used; set the commands for another`,
    ],
  };
}

function isOld({ frameworks }: DotnetProject): boolean {
  return frameworks.length > 0 && frameworks.every((name) => /^(?:v?[1-4]\.\d|net[1-4]\d{1,2}$)/.test(name));
}

function describe(folder: ProjectFolder, project: DotnetProject, found: Finding): Finding {
  const { path, kind, assembly } = project;
  const { version, framework } = targetOf(project);
  const sdk = sdkOf(folder) ?? version;
  const locked = folder.has(pathBeside(path, "packages.lock.json")) ? " --locked-mode" : "";
  const chosenFramework = project.frameworks.length > 1 && framework !== undefined ? ` -f ${framework}` : "";
  const built: Finding = {
    ...found,
    languageVersion: version,
    framework: frameworkOf(project) ?? null,
    installCommand: `dotnet restore ${path}${locked}`,
    buildCommand: `dotnet publish ${path} -c Release${chosenFramework} -o ${OUTPUT}`,
    env: settings(folder, path),
  };
  const wholeRepository = needsWhole(folder, project);
  const image = (run: string) =>
    recipe(`${REGISTRY}/sdk:${sdk}`, {
      runImage: `${REGISTRY}/${run}:${version}`,
      manifests: wholeRepository ? [] : manifestsOf(folder),
      caches: ["/root/.nuget/packages"],
      keep: [wholeRepository ? `${folder.path}/${OUTPUT}` : OUTPUT],
      wholeRepository,
    });
  if (kind === "wasm") {
    return { ...built, projectType: "static", outputDirectory: `${OUTPUT}/wwwroot`, image: image("aspnet") };
  }
  if (assembly === undefined) return warned(built, NO_NAME);
  // Settings and pages are read from the current directory.
  const start = (before: string) => `cd ${OUTPUT} && ${before}dotnet ${assembly}.dll`;
  if (kind === "web") {
    const startCommand = start("ASPNETCORE_URLS=http://0.0.0.0:$PORT ");
    return { ...built, startCommand, port: 8080, image: image("aspnet") };
  }
  return { ...built, startCommand: start(""), image: image("runtime") };
}

function frameworkOf({ kind, packages }: DotnetProject): string | undefined {
  if (kind === "wasm") return "blazor";
  if (packages.includes("giraffe")) return "giraffe";
  if (packages.includes("saturn")) return "saturn";
  return kind === "web" ? "aspnet" : kind === "worker" ? "worker" : undefined;
}

/** The newest target framework of a project, and its version line. */
function targetOf({ frameworks }: DotnetProject): { readonly version: string; readonly framework?: string } {
  const lines = frameworks.flatMap((framework) => {
    const line = /^net(?:coreapp)?(\d{1,2}\.\d)(?:-\w+)?$/.exec(framework)?.[1];
    return line === undefined ? [] : [{ framework, version: line }];
  });
  return lines.toSorted((a, b) => Number(b.version) - Number(a.version))[0] ?? { version: PRESET };
}

/** The SDK version in global.json: exactly that one, unless `rollForward` allows a newer feature band. */
function sdkOf(folder: ProjectFolder): string | undefined {
  const place = folder.outward().find((outer) => outer.has("global.json"));
  const sdk = memberOf(objectOf(place?.data("global.json")), "sdk");
  const version = textOf(sdk, "version")?.trim() ?? "";
  if (!/^\d{1,2}\.\d{1,2}\.\d{3}$/.test(version)) return undefined;
  const grows = /^(?:latest)?(?:feature|minor|major)$/i.test(textOf(sdk, "rollForward") ?? "");
  return grows ? version.split(".").slice(0, 2).join(".") : version;
}

/** Returns whether the build needs files around the folder. */
function needsWhole(folder: ProjectFolder, { leavesFolder }: DotnetProject): boolean {
  if (folder.path === "") return false;
  return (
    leavesFolder ||
    folder
      .outward()
      .slice(1)
      .some((outer) => outer.first(RESTORED) !== undefined)
  );
}

/** The files that `dotnet restore` reads: all projects, since they refer to each other. */
function manifestsOf(folder: ProjectFolder): string[] {
  const solutions = folder.names().filter((name) => SOLUTION.test(name));
  const projects = projectFiles(folder);
  const locks = projects.map((path) => pathBeside(path, "packages.lock.json"));
  const all = [...RESTORED, ...solutions, ...projects, ...locks];
  return [...new Set(all)].filter((path) => PLAIN.test(path) && folder.has(path));
}

/** The connection strings in appsettings.json, which variables of the same name set. */
function settings(folder: ProjectFolder, path: string): DetectedVariable[] {
  const connections = memberOf(objectOf(folder.data(pathBeside(path, "appsettings.json"))), "ConnectionStrings") ?? {};
  return Object.keys(connections)
    .filter((name) => /^[A-Za-z_]\w{0,60}$/.test(name))
    .map((name) => ({ key: `ConnectionStrings__${name}`, required: textOf(connections, name) === undefined }));
}

function pathBeside(path: string, name: string): string {
  return path.slice(0, path.lastIndexOf("/") + 1) + name;
}
