import { chosenVersion, type ChosenVersion } from "../../chosen_version.ts";
import type { Ecosystem, Finding } from "../../ecosystem.ts";
import { type GoModule, goModule, goWorkspace } from "./module.ts";
import { type ImageRecipe, recipe } from "../../image_recipe.ts";
import type { ProjectFolder } from "../../project_folder.ts";
import { runTimeFiles } from "../../run_time_files.ts";
import { TOOL_VERSION_FILES, toolVersion, versionFile } from "../../tool_versions.ts";
import { versionFor } from "../../version_range.ts";

const FRAMEWORKS: readonly (readonly [module: string, name: string, port: number])[] = [
  ["github.com/gin-gonic/gin", "gin", 8080],
  ["github.com/labstack/echo", "echo", 1323],
  ["github.com/gofiber/fiber", "fiber", 3000],
  ["github.com/go-chi/chi", "chi", 3000],
  ["github.com/beego/beego", "beego", 8080],
  ["github.com/gorilla/mux", "gorilla", 8080],
];
const PREFERRED = ["server", "api", "web", "app"];
/** Files at the root that may contain the program. */
const ROOT_FILES = ["main.go", "server.go", "app.go", "api.go"];
const PROGRAM = /^(?:cmd\/(?:[A-Za-z0-9][\w-]{0,99}\/){0,2}|[A-Za-z0-9][\w-]{0,99}\/)main\.go$/;
const KNOWN = { lines: ["1.26", "1.25", "1.24", "1.23", "1.22", "1.21"], preset: "1.25" };
/** Before this version, `go` in go.mod was only a hint, and there were no images on this Debian. */
const FIRST = ">=1.21";

/** Go modules with a program at the root, under `cmd/`, or in another folder. */
export const go: Ecosystem = {
  manifests: ["go.mod", "go.work", ".go-version", ...ROOT_FILES, ...TOOL_VERSION_FILES],
  detect(folder) {
    if (!folder.has("go.mod")) return undefined;
    const module = goModule(folder.text("go.mod") ?? "");
    const { program, warnings } = programOf(folder, module);
    const { version, warnings: doubts } = versionOf(folder, module);
    const framework = FRAMEWORKS.find(([path]) =>
      module.requires.some((one) => one === path || one.startsWith(`${path}/`)),
    );
    const isVendored = folder.has("vendor/modules.txt");
    const found: Finding = {
      language: "go",
      languageVersion: version,
      framework: framework?.[1] ?? null,
      packageManager: "go",
      installCommand: isVendored ? null : "go mod download",
      buildCommand: program === undefined ? null : `go build -o bin/app ${program}`,
      startCommand: program === undefined ? null : "./bin/app",
      port: framework?.[2] ?? 8080,
      warnings: [...doubts, ...warnings],
    };
    return program === undefined ? found : { ...found, image: imageOf(folder, module, version) };
  },
  members: (folder) => goWorkspace(folder.text("go.work") ?? ""),
};

function programOf(
  folder: ProjectFolder,
  { name }: GoModule,
): { readonly program?: string; readonly warnings: readonly string[] } {
  if (ROOT_FILES.some((path) => isMain(folder, path))) return { program: ".", warnings: [] };
  const below = folder.files().filter((path) => path.endsWith("/main.go") && PROGRAM.test(path) && isOwn(folder, path));
  const commands = below.filter((path) => path.startsWith("cmd/"));
  const paths = (commands.length > 0 ? commands : below).map((path) => path.slice(0, -"/main.go".length));
  const lastParts = paths.map((path) => path.slice(path.lastIndexOf("/") + 1));
  const preferred = [...(name === undefined ? [] : [name]), ...PREFERRED].find((word) => lastParts.includes(word));
  const chosen = preferred === undefined ? paths[0] : paths[lastParts.indexOf(preferred)];
  if (chosen === undefined) {
    return { warnings: ["Cannot tell what to build: there is no main.go here or under cmd/. Set the build command"] };
  }
  if (paths.length === 1) return { program: `./${chosen}`, warnings: [] };
  const where = commands.length > 0 ? "cmd/ has" : "there are";
  const sure = `Cannot be sure what to start: ${where} ${lastParts.slice(0, 20).join(", ")}`;
  return { program: `./${chosen}`, warnings: [`${sure}. ${chosen.slice(chosen.lastIndexOf("/") + 1)} is used`] };
}

function isMain(folder: ProjectFolder, path: string): boolean {
  if (!folder.has(path)) return false;
  const text = folder.text(path) ?? "";
  // A file that is too large to read, or still empty, may be a program by its name.
  return /^package main\b/m.test(text) || (path.endsWith("main.go") && !/^package \w/m.test(text));
}

/** Returns whether a file belongs to this module, is not in a test or example folder, and contains a program. */
function isOwn(folder: ProjectFolder, path: string): boolean {
  const inside = path.slice(0, path.lastIndexOf("/"));
  return folder.text(path) !== undefined && isMain(folder, path) && !folder.has(`${inside}/go.mod`);
}

function versionOf(folder: ProjectFolder, module: GoModule): ChosenVersion {
  const pinned = [
    { from: ".go-version", wanted: versionFile(folder, ".go-version") },
    { from: "mise.toml or .tool-versions", wanted: toolVersion(folder, ["go", "golang"]) },
  ];
  const isPinned = pinned.some(({ wanted }) => wanted !== undefined && versionFor(wanted, KNOWN) !== undefined);
  const declared = module.toolchain ?? module.go;
  const isOld = declared === undefined || versionFor(`${FIRST} <=${declared}`, KNOWN) === undefined;
  const wanted = module.go === undefined ? undefined : isPinned || isOld ? `>=${module.go}` : declared;
  return chosenVersion("Go", [...pinned, { from: "go.mod", wanted }], KNOWN);
}

function imageOf(folder: ProjectFolder, module: GoModule, version: string): ImageRecipe {
  const places = folder.outward();
  const workspace = places.find((place) => place.has("go.work"));
  const members = workspace === undefined ? [] : goWorkspace(workspace.text("go.work") ?? "");
  const leaves = module.replacements.some((path) => path.startsWith(".."));
  const wholeRepository = folder.path !== "" && (workspace !== undefined || leaves);
  const own = (path: string) => (wholeRepository ? `${folder.path}/${path}` : path);
  const root = wholeRepository ? places.at(-1)! : folder;
  const base = workspace === undefined || workspace.path === "" ? "" : `${workspace.path}/`;
  const read = [
    ...["go.work", "go.work.sum"].map((path) => base + path),
    ...members.flatMap((path) => filesOf(path === "." ? base : `${base}${path}/`)),
    ...filesOf(own("")),
    ...module.replacements.flatMap((path) => filesOf(own(`${path.replace(/^\.\//, "").replace(/\/$/, "")}/`))),
  ];
  return recipe("debian:bookworm-slim", {
    buildImage: `golang:${version}-bookworm`,
    runPackages: ["ca-certificates", "tzdata"],
    manifests: leaves ? [] : [...new Set(read)].filter((path) => root.has(path)),
    caches: ["/go/pkg/mod", "/root/.cache/go-build"],
    keep: ["bin/app", ...runTimeFiles(folder)].map(own),
    wholeRepository,
  });
}

function filesOf(inside: string): string[] {
  return [`${inside}go.mod`, `${inside}go.sum`];
}
