import { type JsonObject, memberOf, objectOf } from "../../text/json_text.ts";
import type { ProjectFolder } from "../../project_folder.ts";
import { objectsOf, textsOf } from "../../text/xml_elements.ts";

/** What a project of .NET makes. */
export type DotnetKind = "web" | "wasm" | "worker" | "console" | "library" | "test";

/** One `.csproj`, `.fsproj` or `.vbproj`. */
export interface DotnetProject {
  /** Relative to the folder that is looked at. */
  readonly path: string;
  readonly kind: DotnetKind;
  readonly language: "csharp" | "fsharp" | "visualbasic";
  /** The name of the file that it is compiled into, without its ending, when it is plain. */
  readonly assembly: string | undefined;
  /** As written: `net9.0`, `net48`; several of which one is chosen. */
  readonly frameworks: readonly string[];
  /** The packages that it refers to, in lower case. */
  readonly packages: readonly string[];
  /** Whether it refers to projects outside of the folder that is looked at. */
  readonly leavesFolder: boolean;
}

const LANGUAGES = { csproj: "csharp", fsproj: "fsharp", vbproj: "visualbasic" } as const;
const PLAIN_PATH = /^(?:[A-Za-z0-9_][A-Za-z0-9_.-]*\/){0,3}[A-Za-z0-9_][A-Za-z0-9_.-]*\.(?:cs|fs|vb)proj$/;
const PLAIN_NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/;
const SDKS: readonly (readonly [name: string, kind: DotnetKind])[] = [
  ["Microsoft.NET.Sdk.BlazorWebAssembly", "wasm"],
  ["Microsoft.NET.Sdk.Web", "web"],
  ["Microsoft.NET.Sdk.Worker", "worker"],
  ["Aspire.AppHost.Sdk", "library"],
];
const MAX_PROJECTS = 100;

/** The projects in a folder and below it, those that can be read and named in a command. */
export function dotnetProjects(folder: ProjectFolder): DotnetProject[] {
  const paths = projectFiles(folder).filter((path) => PLAIN_PATH.test(path));
  return paths.slice(0, MAX_PROJECTS).flatMap((path) => {
    const project = memberOf(objectOf(folder.data(path)), "Project");
    return project === undefined ? [] : [describe(folder, path, project)];
  });
}

/** The files of projects in a folder and three levels below it. */
export function projectFiles(folder: ProjectFolder, depth = 0): string[] {
  const here = folder.names().filter((name) => /\.(?:cs|fs|vb)proj$/.test(name));
  if (depth >= 3) return here;
  const below = folder
    .folders()
    .filter((name) => PLAIN_NAME.test(name) && name !== "node_modules")
    .flatMap((name) => projectFiles(folder.at(name), depth + 1).map((path) => `${name}/${path}`));
  return [...here, ...below];
}

function describe(folder: ProjectFolder, path: string, project: JsonObject): DotnetProject {
  const properties = [...objectsOf(project, "PropertyGroup"), ...inherited(folder, path)];
  const value = (name: string) => properties.map((group) => textsOf(group, name)[0]).find((text) => text !== undefined);
  const items = objectsOf(project, "ItemGroup");
  const named = (kind: string) =>
    items.flatMap((group) => objectsOf(group, kind)).flatMap((one) => textsOf(one, "@Include"));
  const packages = named("PackageReference").map((name) => name.toLowerCase());
  const assembly = value("AssemblyName") ?? path.slice(path.lastIndexOf("/") + 1).replace(/\.\w+$/, "");
  const frameworks = value("TargetFramework") ?? value("TargetFrameworks") ?? value("TargetFrameworkVersion") ?? "";
  return {
    path,
    kind: kindOf(project, { output: value("OutputType"), test: value("IsTestProject"), packages }),
    language: LANGUAGES[path.slice(path.lastIndexOf(".") + 1) as keyof typeof LANGUAGES],
    assembly: PLAIN_NAME.test(assembly) ? assembly : undefined,
    frameworks: frameworks
      .split(";")
      .map((name) => name.trim())
      .filter((name) => name !== ""),
    packages,
    leavesFolder: named("ProjectReference").some((reference) => leaves(path, reference)),
  };
}

/** Whether a path that is written in a file leads out of the folder that the file's own path begins in. */
function leaves(path: string, written: string): boolean {
  const depth = path.split("/").length - 1;
  const parts = written.split(/[\\/]/);
  const up = parts.findIndex((part) => part !== "..");
  return (up === -1 ? parts.length : up) > depth;
}

/** The properties of the nearest Directory.Build.props, which every project below it takes over. */
function inherited(folder: ProjectFolder, path: string): JsonObject[] {
  const own = path.includes("/") ? folder.at(path.slice(0, path.lastIndexOf("/"))) : folder;
  const place = own.outward().find((outer) => outer.has("Directory.Build.props"));
  return objectsOf(memberOf(objectOf(place?.data("Directory.Build.props")), "Project"), "PropertyGroup");
}

function kindOf(
  project: JsonObject,
  { output, test, packages }: { output: string | undefined; test: string | undefined; packages: readonly string[] },
): DotnetKind {
  if (test?.toLowerCase() === "true" || packages.includes("microsoft.net.test.sdk")) return "test";
  const written = [...textsOf(project, "@Sdk"), ...objectsOf(project, "Sdk").flatMap((sdk) => textsOf(sdk, "@Name"))];
  const names = written.flatMap((name) => name.split(";")).map((name) => name.trim().split("/")[0]);
  const known = SDKS.find(([name]) => names.includes(name));
  if (known !== undefined) return known[1];
  return output?.toLowerCase() === "exe" ? "console" : "library";
}
