import { type JsonObject, memberOf, objectOf } from "../../text/json_text.ts";
import type { ProjectFolder } from "../../project_folder.ts";
import { objectsOf, textsOf } from "../../text/xml_elements.ts";

/** What a .NET project produces. */
export type DotnetKind = "web" | "wasm" | "worker" | "console" | "library" | "test";

/** One `.csproj`, `.fsproj` or `.vbproj`. */
export interface DotnetProject {
  /** Relative to the inspected folder. */
  readonly path: string;
  readonly kind: DotnetKind;
  readonly language: "csharp" | "fsharp" | "visualbasic";
  /** The name of the compiled assembly without its extension, if it is safe in a command. */
  readonly assembly: string | undefined;
  /** As written: `net9.0`, `net48`; one is chosen if there are several. */
  readonly frameworks: readonly string[];
  /** The packages that it references, in lower case. */
  readonly packages: readonly string[];
  /** Whether it references projects outside the inspected folder. */
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

/** The projects in a folder and below it that can be parsed and whose paths are safe in a command. */
export function dotnetProjects(folder: ProjectFolder): DotnetProject[] {
  const paths = projectFiles(folder).filter((path) => PLAIN_PATH.test(path));
  return paths.slice(0, MAX_PROJECTS).flatMap((path) => {
    const project = memberOf(objectOf(folder.data(path)), "Project");
    return project === undefined ? [] : [describe(folder, path, project)];
  });
}

/** The project files in a folder and up to three levels below it. */
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

/** Returns whether a path written in a file leaves the folder that the file's own path is relative to. */
function leaves(path: string, written: string): boolean {
  const depth = path.split("/").length - 1;
  const parts = written.split(/[\\/]/);
  const up = parts.findIndex((part) => part !== "..");
  return (up === -1 ? parts.length : up) > depth;
}

/** The properties of the nearest Directory.Build.props, which every project below it inherits. */
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
