import { hasProgram } from "./java_main.ts";
import { memberOf, objectOf, textOf } from "../../text/json_text.ts";
import type { ProjectFolder } from "../../project_folder.ts";
import { matched, withoutComments } from "../../text/source_text.ts";

/** Gradle build files, in Kotlin or Groovy. */
export const BUILD_FILES = ["build.gradle.kts", "build.gradle"];
export const SETTINGS_FILES = ["settings.gradle.kts", "settings.gradle"];
const CATALOG = "gradle/libs.versions.toml";
const MAX_PROJECTS = 100;
const PLAIN_PROJECT = /^:?[A-Za-z0-9_][A-Za-z0-9_.-]*(?::[A-Za-z0-9_][A-Za-z0-9_.-]*){0,2}$/;
const PLAIN_NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/;

/** One project of a Gradle build. */
export interface GradleProject {
  /** Its folder, `""` for the root. */
  readonly path: string;
  /** Its build file without comments. */
  readonly text: string;
  /** The ids of the plugins that it applies. */
  readonly plugins: readonly string[];
}

/** Returns the projects of a Gradle build, the root first. */
export function gradleProjects(folder: ProjectFolder): GradleProject[] {
  const aliases = pluginAliases(folder);
  const read = (path: string) => {
    const prefix = path === "" ? "" : `${path}/`;
    const file = folder.first(BUILD_FILES.map((name) => prefix + name));
    if (file === undefined) return [];
    const text = withoutComments(folder.text(file) ?? "", "//");
    return [{ path, text, plugins: pluginsOf(text, aliases) }];
  };
  const paths = included(settingsOf(folder)).map((name) => name.replace(/^:/, "").replaceAll(":", "/"));
  const [root] = read("");
  const others = [...new Set(paths)].slice(0, MAX_PROJECTS).flatMap(read);
  if (root === undefined || others.length === 0 || folder.hasFolder("src/main"))
    return [...(root ? [root] : []), ...others];
  // A root without sources applies plugins for its subprojects.
  const inheriting = others.map((project) =>
    hasProgram(folder.at(project.path)) ? { ...project, plugins: [...project.plugins, ...root.plugins] } : project,
  );
  return [{ ...root, plugins: [] }, ...inheriting];
}

/** The settings of a build without comments, `""` when it has none. */
export function settingsOf(folder: ProjectFolder): string {
  const file = folder.first(SETTINGS_FILES);
  return file === undefined ? "" : withoutComments(folder.text(file) ?? "", "//");
}

/** The name of the root project, if the settings define it and it is safe in a command. */
export function rootName(folder: ProjectFolder): string | undefined {
  const name = matched(settingsOf(folder), /rootProject\.name[ \t]*=[ \t]*["']([^"'\n]{1,100})["']/);
  return name !== undefined && PLAIN_NAME.test(name) ? name : undefined;
}

/** Parses `include 'a', 'b:c'` and `include("a", "b")`, also over several lines. */
function included(settings: string): string[] {
  const names: string[] = [];
  for (const [, list = ""] of settings.matchAll(
    /^[ \t]*include\b[ \t]*\(?((?:[ \t\r\n,]*["'][^"'\n]{1,200}["'])*)/gm,
  )) {
    for (const [, name = ""] of list.matchAll(/["']([^"'\n]{1,200})["']/g))
      if (PLAIN_PROJECT.test(name)) names.push(name);
  }
  return names;
}

/**
 * The IDs of the applied plugins, in old or new syntax; without those that are only made available to other projects.
 */
function pluginsOf(text: string, aliases: ReadonlyMap<string, string>): string[] {
  const ids: string[] = [];
  for (const line of text.split("\n")) {
    if (line.length > 1_000 || /\bapply[ \t(]+false\b/.test(line)) continue;
    const id = matched(
      line,
      /\bid[ \t]*\(?[ \t]*["']([\w.-]{1,100})["']/,
      /\bapply[ \t]*\(?[ \t]*plugin[ \t]*[:=][ \t]*["']([\w.-]{1,100})["']/,
      /^[ \t]*`?(application|java|war)`?[ \t]*$/,
    );
    const kotlin = matched(line, /\bkotlin[ \t]*\([ \t]*["']([\w.]{1,50})["'][ \t]*\)/);
    const alias = matched(line, /\balias[ \t]*\([ \t]*\w{1,50}\.plugins\.([\w.]{1,100})[ \t]*\)/);
    if (id !== undefined) ids.push(id);
    if (kotlin !== undefined) ids.push(`org.jetbrains.kotlin.${kotlin}`);
    const aliased = alias && aliases.get(alias);
    if (aliased) ids.push(aliased);
  }
  return ids;
}

/** The plugins of the version catalog, by their aliases in build files. */
function pluginAliases(folder: ProjectFolder): Map<string, string> {
  const plugins = memberOf(objectOf(folder.data(CATALOG)), "plugins") ?? {};
  const entries = Object.keys(plugins).flatMap((name) => {
    const id = textOf(memberOf(plugins, name), "id") ?? textOf(plugins, name)?.split(":")[0];
    return id === undefined ? [] : [[name.replaceAll(/[-_]/g, "."), id] as const];
  });
  // Ktor's generator uses a catalog that Ktor publishes.
  return new Map([["ktor", "io.ktor.plugin"], ...entries]);
}
