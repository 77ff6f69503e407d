import type { Finding } from "../../ecosystem.ts";
import { dependsOn, isMember, type NodePackage, scriptText } from "./package.ts";
import { textOf, memberOf } from "../../text/json_text.ts";
import { isDependedOn } from "./workspace.ts";
import type { ProjectFolder } from "../../project_folder.ts";
import { codeOf } from "../../text/script_text.ts";

/** Facts of a framework that depend on the project. */
export interface Refined extends Finding {
  /** The command that serves, unless a script runs a program of the project. */
  readonly serve?: string;
  /** The folder that contains everything needed at run time, if that is not the whole project. */
  readonly alone?: string | undefined;
  /** An environment variable for the build, as in `CI=1`. */
  readonly buildVariable?: string;
  /** Commands to run after the build. */
  readonly afterBuild?: readonly string[];
}

/** How projects of one Node framework are built and served. */
export interface NodeFramework extends Pick<Refined, "serve" | "alone"> {
  readonly name: string;
  /** A dependency on any of these packages identifies the framework. */
  readonly packages: readonly string[];
  /** A `site` has its own server or is served as files; a `server` is a library that a program of the project uses. */
  readonly kind: "site" | "server";
  /** Served as files unless `refine` overrides it. */
  readonly static?: boolean;
  /** The framework's build command, for projects without a build script. */
  readonly build?: string;
  /** The framework's start command, for projects without a start script. */
  readonly start?: string;
  readonly output?: string;
  readonly port?: number;
  readonly refine?: (project: NodePackage) => Refined;
  /** At least one of these files must exist too. */
  readonly needs?: readonly string[];
  /** The base name of its configuration file, such as `next` for `next.config.js`. */
  readonly config?: string;
  /** Excludes a project that matches otherwise. */
  readonly isOther?: (project: NodePackage) => boolean;
}

const CONFIG_ENDINGS = ["js", "mjs", "cjs", "ts", "mts", "cts"];

/** Configuration files whose text is read. */
export const CONFIG_FILES =
  /^(?:app|astro|drizzle|eleventy|next|nitro|nuxt|prisma|react-router|svelte|vite)\.config\.[cm]?[jt]s$/;

/** The code of a configuration file with any extension; empty when there is none. */
export function configCode(folder: ProjectFolder, name: string): string {
  const path = configPath(folder, name);
  return path === undefined ? "" : codeOf(folder.text(path) ?? "");
}

function configPath(folder: ProjectFolder, name: string): string | undefined {
  return folder.first(CONFIG_ENDINGS.map((ending) => `${name}.config.${ending}`));
}

/** A site that is served as files from a folder. */
export function asFiles(outputDirectory: string): Refined {
  return { projectType: "static", outputDirectory, startCommand: null, port: null };
}

/**
 * Returns whether a package is a site of this framework, and not a library based on it or a root that holds it for
 * others.
 */
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

/** Returns whether a script calls the framework or a file configures it. */
function isConfigured({ build, start, config }: NodeFramework, { folder, manifest }: NodePackage): boolean {
  if (config !== undefined && (configPath(folder, config) ?? folder.first([`${config}.json`])) !== undefined)
    return true;
  const programs = [build, start].flatMap((command) => command?.split(" ", 1) ?? []);
  return Object.keys(memberOf(manifest, "scripts") ?? {}).some((script) => {
    const words = scriptText(manifest, script)?.slice(0, 2_000).split(/\s+/) ?? [];
    return programs.some((program) => words.includes(program));
  });
}
