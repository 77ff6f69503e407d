import type { Finding } from "../../ecosystem.ts";
import { dependsOn, isMember, type NodePackage, scriptText } from "./package.ts";
import { textOf, memberOf } from "../../text/json_text.ts";
import { isDependedOn } from "./workspace.ts";
import type { ProjectFolder } from "../../project_folder.ts";
import { codeOf } from "../../text/script_text.ts";

/** Facts of a framework that depend on the project. */
export interface Refined extends Finding {
  /** Command that serves, unless a script runs a program of the project's own. */
  readonly serve?: string;
  /** The folder that holds all that is needed at run time, when that is not the whole project. */
  readonly alone?: string | undefined;
  /** A variable for the build, as in `CI=1`. */
  readonly buildVariable?: string;
  /** Commands after the build. */
  readonly afterBuild?: readonly string[];
}

/** How projects of one Node framework are built and served. */
export interface NodeFramework extends Pick<Refined, "serve" | "alone"> {
  readonly name: string;
  /** Any of these among the dependencies makes it this framework. */
  readonly packages: readonly string[];
  /** `site` brings its own server or is served as files; `server` is a library that a program of the project uses. */
  readonly kind: "site" | "server";
  /** Served as files unless `refine` says otherwise. */
  readonly static?: boolean;
  /** Program of the framework that builds, for projects without a build script. */
  readonly build?: string;
  /** Program of the framework that serves, for projects without a start script. */
  readonly start?: string;
  readonly output?: string;
  readonly port?: number;
  readonly refine?: (project: NodePackage) => Refined;
  /** Files of which one has to be there too. */
  readonly needs?: readonly string[];
  /** Files of its configuration, up to the ending. */
  readonly config?: string;
  /** Whether a project is not of this framework all the same. */
  readonly isOther?: (project: NodePackage) => boolean;
}

const CONFIG_ENDINGS = ["js", "mjs", "cjs", "ts", "mts", "cts"];

/** The configuration files whose text is read. */
export const CONFIG_FILES =
  /^(?:app|astro|drizzle|eleventy|next|nitro|nuxt|prisma|react-router|svelte|vite)\.config\.[cm]?[jt]s$/;

/** The code of a configuration file whatever its ending, or an empty one. */
export function configCode(folder: ProjectFolder, name: string): string {
  const path = configPath(folder, name);
  return path === undefined ? "" : codeOf(folder.text(path) ?? "");
}

function configPath(folder: ProjectFolder, name: string): string | undefined {
  return folder.first(CONFIG_ENDINGS.map((ending) => `${name}.config.${ending}`));
}

/** A site that is served from a folder. */
export function asFiles(outputDirectory: string): Refined {
  return { projectType: "static", outputDirectory, startCommand: null, port: null };
}

/** Tells whether a package is a site of this framework, and not one that only builds on it or holds it for others. */
export function isSiteOf(framework: NodeFramework, project: NodePackage): boolean {
  const { folder, manifest, workspace } = project;
  if (framework.needs !== undefined && folder.first(framework.needs) === undefined) return false;
  const names = framework.packages.filter((name) => dependsOn(manifest, name));
  if (names.length === 0 || framework.isOther?.(project)) return false;
  const offered = names.some((name) => dependsOn(manifest, name, ["peerDependencies"]));
  const used = !offered && names.some((name) => dependsOn(manifest, name, ["dependencies"]));
  if (project.holdsOthers || offered) return isConfigured(framework, project);
  if (!isMember(project) || isConfigured(framework, project)) return true;
  return used && !isDependedOn(workspace!, textOf(manifest, "name"));
}

/** Tells whether a script calls the framework or a file configures it. */
function isConfigured({ build, start, config }: NodeFramework, { folder, manifest }: NodePackage): boolean {
  if (config !== undefined && (configPath(folder, config) ?? folder.first([`${config}.json`])) !== undefined)
    return true;
  const programs = [build, start].flatMap((command) => command?.split(" ", 1) ?? []);
  return Object.keys(memberOf(manifest, "scripts") ?? {}).some((script) => {
    const words = scriptText(manifest, script)?.slice(0, 2_000).split(/\s+/) ?? [];
    return programs.some((program) => words.includes(program));
  });
}
