import { type JsonObject, memberOf, objectOf } from "../../text/json_text.ts";
import { PLAIN_FILE } from "./jvm.ts";
import type { ProjectFolder } from "../../project_folder.ts";
import { objectsOf, textsOf } from "../../text/xml_elements.ts";

const MAX_PARENTS = 5;
const REFERENCE = /\$\{([A-Za-z0-9_.-]{1,100})\}/g;

/** One pom.xml, with what it inherits from those above it in the same repository. */
export class MavenPom {
  /** Relative to the folder that is looked at, `""` for itself. */
  readonly path: string;
  readonly #project: JsonObject;
  readonly #parent: MavenPom | undefined;

  private constructor(path: string, project: JsonObject, parent: MavenPom | undefined) {
    this.path = path;
    this.#project = project;
    this.#parent = parent;
  }

  /** The pom.xml in a folder below; `undefined` when there is none that can be read. */
  static read(folder: ProjectFolder, path = "", parent?: MavenPom): MavenPom | undefined {
    const project = memberOf(objectOf(folder.data(path === "" ? "pom.xml" : `${path}/pom.xml`)), "project");
    return project && new MavenPom(path, project, parent);
  }

  /** The folders of its modules that are plain names of folders below. */
  modules(): string[] {
    return textsOf(memberOf(this.#project, "modules"), "module")
      .map((name) => name.replace(/^\.\//, "").replace(/\/$/, ""))
      .filter((name) => /^[A-Za-z0-9_][A-Za-z0-9_.-]*(?:\/[A-Za-z0-9_][A-Za-z0-9_.-]*){0,2}$/.test(name));
  }

  /** Whether it has modules, plain or not. */
  isAggregator(): boolean {
    return textsOf(memberOf(this.#project, "modules"), "module").length > 0;
  }

  packaging(): string {
    return this.resolved(textsOf(this.#project, "packaging")[0]) ?? "jar";
  }

  /** A property, its own before an inherited one, with references to others resolved. */
  property(name: string): string | undefined {
    return this.resolved(this.#property(name));
  }

  /** The artifacts that it builds with, `group:artifact`, and inherited ones. */
  plugin(artifact: string): JsonObject | undefined {
    const own = objectsOf(memberOf(memberOf(this.#project, "build"), "plugins"), "plugin");
    const found = own.find((plugin) => textsOf(plugin, "artifactId")[0] === artifact);
    return found ?? this.#parent?.plugin(artifact);
  }

  /** Whether it declares this plugin itself. */
  declaresPlugin(artifact: string): boolean {
    const own = objectsOf(memberOf(memberOf(this.#project, "build"), "plugins"), "plugin");
    return own.some((plugin) => textsOf(plugin, "artifactId")[0] === artifact);
  }

  /** The groups and artifacts that it depends on or inherits from, as `group:artifact`. */
  dependencies(): string[] {
    const declared = objectsOf(memberOf(this.#project, "dependencies"), "dependency");
    const parent = objectsOf(this.#project, "parent");
    const plugins = objectsOf(memberOf(memberOf(this.#project, "build"), "plugins"), "plugin");
    const own = [...declared, ...parent, ...plugins].map(
      (one) => `${textsOf(one, "groupId")[0] ?? ""}:${textsOf(one, "artifactId")[0] ?? ""}`,
    );
    return [...own.map((name) => this.resolved(name) ?? name), ...(this.#parent?.dependencies() ?? [])];
  }

  /** The name of what it builds, without an ending, when it can be told and is plain. */
  finalName(): string | undefined {
    const named = textsOf(memberOf(this.#project, "build"), "finalName")[0];
    const artifact = textsOf(this.#project, "artifactId")[0];
    const name = this.resolved(named ?? `${artifact ?? "${"}-${"${project.version}"}`);
    return name !== undefined && PLAIN_FILE.test(name) ? name : undefined;
  }

  /** A text with its references resolved; `undefined` when one cannot be. */
  resolved(text: string | undefined, depth = 0): string | undefined {
    if (text === undefined || depth > MAX_PARENTS || text.length > 1_000) return undefined;
    let known = true;
    const filled = text.replaceAll(REFERENCE, (_, name: string) => {
      const value = this.resolved(this.#property(name), depth + 1);
      known &&= value !== undefined;
      return value ?? "";
    });
    return known && !filled.includes("${") ? filled.trim() : undefined;
  }

  #property(name: string): string | undefined {
    const about = /^(?:project|pom)\.(artifactId|version|groupId|name|parent\.version)$/.exec(name)?.[1];
    const inherited = textsOf(memberOf(this.#project, "parent"), "version")[0];
    if (about === "parent.version") return inherited;
    if (about === "version") return textsOf(this.#project, "version")[0] ?? inherited;
    if (about !== undefined) return textsOf(this.#project, about)[0];
    const own = textsOf(memberOf(this.#project, "properties"), name)[0];
    return own ?? (this.#parent === undefined ? undefined : this.#parent.#property(name));
  }
}
