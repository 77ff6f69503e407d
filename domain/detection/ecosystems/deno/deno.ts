import { chosenVersion } from "../../chosen_version.ts";
import { denoMembers, denoWorkspace } from "./workspace.ts";
import type { Ecosystem, Finding } from "../../ecosystem.ts";
import { type ImageRecipe, recipe } from "../../image_recipe.ts";
import { commentedJsonObject, type JsonObject, memberOf, textOf } from "../../text/json_text.ts";
import { plainPath } from "../../plain_names.ts";
import type { ProjectFolder } from "../../project_folder.ts";
import { codeOf } from "../../text/script_text.ts";
import { toolVersion, versionFile } from "../../tool_versions.ts";
import type { KnownVersions } from "../../version_range.ts";

const CONFIGS = ["deno.json", "deno.jsonc"];
const ENTRY_NAMES = ["main", "server", "app", "mod", "index", "src/main", "src/server", "src/index"];
const ENTRIES = ENTRY_NAMES.flatMap((name) => ["ts", "tsx", "js"].map((ending) => `${name}.${ending}`));
const READ = ["main.ts", "main.tsx", "main.js", "server.ts", "mod.ts"];
const INSTALLED_BY = [...CONFIGS, "deno.lock", "package.json", ".npmrc"];
const FRAMEWORKS: readonly (readonly [imported: RegExp, name: string])[] = [
  [/^(?:\$fresh\/|fresh$|@fresh\/core)/, "fresh"],
  [/^lume\//, "lume"],
  [/^(?:hono|@hono\/hono)(?:\/|$)/, "hono"],
  [/^(?:oak|@oak\/oak)(?:\/|$)/, "oak"],
];
/** Images exist for full versions only. */
const KNOWN: KnownVersions = { lines: ["2.9.5", "1.46.3"], preset: "2.9.5" };
/** Without it, `Deno.serve` listens on the port in the program, and not on `$PORT`. */
const ADDRESS = "DENO_SERVE_ADDRESS=tcp:0.0.0.0:$PORT";
const FOR_DEVELOPMENT = /(?:^|\s)(?:--watch|dev\.ts|vite(?=$|\s+dev|\s+--))/;
const USES_DENO = /\bDeno\.\w|["'](?:jsr:|npm:|https:\/\/deno\.land\/)/;

/** A Deno project that is being inspected. */
interface DenoProject {
  readonly folder: ProjectFolder;
  readonly config: JsonObject;
  readonly framework: string | null;
  readonly entry: string | undefined;
}

/**
 * Projects with a deno.json that has a start task or no package.json beside it, and programs that call Deno's own APIs.
 */
export const deno: Ecosystem = {
  manifests: [...CONFIGS, ".dvmrc", ".deno-version", ...READ],
  detect(folder) {
    const path = folder.first(CONFIGS);
    if (path === undefined) return plainProgram(folder);
    const config = commentedJsonObject(folder.text(path) ?? "");
    if (config === undefined) {
      const warning = `Cannot read ${path}: it is not a JSON object. Correct it, or set the commands yourself`;
      return { language: "typescript", packageManager: "deno", warnings: [warning], broken: true };
    }
    if (startTask(config) === undefined && folder.has("package.json")) return undefined;
    return describe(folder, config);
  },
  members: denoMembers,
};

function plainProgram(folder: ProjectFolder): Finding | undefined {
  if (folder.has("package.json")) return undefined;
  const calls = READ.some((path) => USES_DENO.test(codeOf(folder.text(path) ?? "")));
  return calls || (folder.has("deno.lock") && folder.first(ENTRIES) !== undefined) ? describe(folder, {}) : undefined;
}

function describe(folder: ProjectFolder, config: JsonObject): Finding {
  const workspace = denoWorkspace(folder);
  const imports = [config, workspace?.config].flatMap((one) => Object.keys(memberOf(one, "imports") ?? {}));
  const framework = FRAMEWORKS.find(([imported]) => imports.some((name) => imported.test(name)))?.[1] ?? null;
  // A member with `exports` is imported by other members, so it is no program.
  const isPart = workspace !== undefined && Object.hasOwn(config, "exports");
  const project: DenoProject = { folder, config, framework, entry: isPart ? undefined : entryOf(folder, config) };
  const { version, warnings } = versionOf(folder);
  const installCommand = installOf(project);
  const started = startOf(project);
  const isSite = framework === "lume";
  const found: Finding = {
    language: project.entry?.endsWith(".js") ? "javascript" : "typescript",
    languageVersion: version,
    framework,
    packageManager: "deno",
    installCommand,
    buildCommand: taskOf(config, "build") === undefined ? null : "deno task build",
    warnings,
  };
  if (isSite) {
    const image = imageOf(project, { version, installCommand, keep: ["_site"] });
    return { ...found, projectType: "static", outputDirectory: "_site", image };
  }
  const image = imageOf(project, { version, installCommand, keep: [".", "/deno-dir"] });
  return { ...found, startCommand: started, port: 8000, image: started === null ? null : image };
}

function taskOf(config: JsonObject, name: string): string | undefined {
  const tasks = memberOf(config, "tasks");
  return textOf(tasks, name) ?? textOf(memberOf(tasks, name), "command");
}

/** The task that starts a project in production. */
function startTask(config: JsonObject): string | undefined {
  return ["start", "serve", "preview"].find((name) => {
    const text = taskOf(config, name);
    return text !== undefined && !FOR_DEVELOPMENT.test(text.slice(0, 2_000));
  });
}

function startOf({ folder, config, framework, entry }: DenoProject): string | null {
  const task = startTask(config);
  if (task !== undefined) return `${ADDRESS} deno task ${task}`;
  if (framework === "fresh" && folder.first(["vite.config.ts", "vite.config.js"]) !== undefined)
    return "deno serve -A --host 0.0.0.0 --port $PORT _fresh/server.js";
  if (entry === undefined) return null;
  const code = codeOf(folder.text(entry) ?? "");
  const isServed = /^export default\b/m.test(code) && !/\bserve\(|\.listen\(/.test(code);
  return isServed ? `deno serve -A --host 0.0.0.0 --port $PORT ${entry}` : `${ADDRESS} deno run -A ${entry}`;
}

function entryOf(folder: ProjectFolder, config: JsonObject): string | undefined {
  return folder.commandPath(plainPath(textOf(memberOf(config, "deploy"), "entrypoint"))) ?? folder.first(ENTRIES);
}

function installOf({ folder, config, entry }: DenoProject): string | null {
  const hasModules = Object.hasOwn(config, "nodeModulesDir") || folder.has("package.json");
  if (hasModules) return "deno install";
  return entry === undefined ? null : `deno cache ${entry}`;
}

function versionOf(folder: ProjectFolder): { readonly version: string; readonly warnings: readonly string[] } {
  const requirements = [".dvmrc", ".deno-version"].map((from) => ({ from, wanted: versionFile(folder, from) }));
  const { version, warnings } = chosenVersion(
    "Deno",
    [...requirements, { from: "mise.toml or .tool-versions", wanted: toolVersion(folder, ["deno"]) }],
    KNOWN,
  );
  return { version: wholeVersion(version), warnings };
}

function wholeVersion(version: string): string {
  const parts = version.split(".");
  if (parts.length === 3) return version;
  return KNOWN.lines.find((line) => line.startsWith(`${version}.`)) ?? [...parts, "0", "0"].slice(0, 3).join(".");
}

function imageOf(
  { folder }: DenoProject,
  { version, installCommand, keep }: { version: string; installCommand: string | null; keep: readonly string[] },
): ImageRecipe {
  const wholeRepository = denoWorkspace(folder) !== undefined;
  const inContext = (path: string) => (wholeRepository && path === "_site" ? `${folder.path}/${path}` : path);
  return recipe(`denoland/deno:debian-${version}`, {
    // The image must contain all dependencies, as nothing is downloaded at startup.
    environment: { DENO_DIR: "/deno-dir" },
    manifests:
      installCommand === "deno install" && !wholeRepository ? INSTALLED_BY.filter((path) => folder.has(path)) : [],
    keep: keep.map(inContext),
    wholeRepository,
  });
}
