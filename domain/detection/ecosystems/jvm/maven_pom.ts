import { type JsonObject, memberOf, objectOf } from "../../text/json_text.ts";
import { PLAIN_FILE } from "./jvm.ts";
import type { ProjectFolder } from "../../project_folder.ts";
import { objectsOf, textsOf } from "../../text/xml_elements.ts";

const MAX_PARENTS = 5;
const REFERENCE = /\$\{([A-Za-z0-9_.-]{1,100})\}/g;

/** A pom.xml, with what it inherits from its parents in the same repository. */
export class MavenPom {
  /** Relative to the inspected folder, `""` for that folder itself. */
  readonly path: string;
  readonly #project: JsonObject;
  readonly #parent: MavenPom | undefined;

  private constructor(path: string, project: JsonObject, parent: MavenPom | undefined) {
    this.path = path;
    this.#project = project;
    this.#parent = parent;
  }

  /** Reads the pom.xml of a folder; `undefined` when it is missing or cannot be parsed. */
  static read(folder: ProjectFolder, path = "", parent?: MavenPom): MavenPom | undefined {
    const project = memberOf(objectOf(folder.data(path === "" ? "pom.xml" : `${path}/pom.xml`)), "project");
    return project && new MavenPom(path, project, parent);
  }

  /** The folders of its modules that lie below it and are safe in a command. */
  modules(): string[] {
    return textsOf(memberOf(this.#project, "modules"), "module")
      .map((name) => name.replace(/^\.\//, "").replace(/\/$/, ""))
      .filter((name) => /^[A-Za-z0-9_][A-Za-z0-9_.-]*(?:\/[A-Za-z0-9_][A-Za-z0-9_.-]*){0,2}$/.test(name));
  }

  /** Returns whether it has modules, safe in a command or not. */
  isAggregator(): boolean {
    return textsOf(memberOf(this.#project, "modules"), "module").length > 0;
  }

  packaging(): string {
    return this.resolved(textsOf(this.#project, "packaging")[0]) ?? "jar";
  }

  /** Returns a property, own before inherited, with its references resolved. */
  property(name: string): string | undefined {
    return this.resolved(this.#property(name));
  }

  /** Returns a build plugin by its artifact ID, own before inherited. */
  plugin(artifact: string): JsonObject | undefined {
    const own = objectsOf(memberOf(memberOf(this.#project, "build"), "plugins"), "plugin");
    const found = own.find((plugin) => textsOf(plugin, "artifactId")[0] === artifact);
    return found ?? this.#parent?.plugin(artifact);
  }

  /** Returns whether it declares this plugin itself. */
  declaresPlugin(artifact: string): boolean {
    const own = objectsOf(memberOf(memberOf(this.#project, "build"), "plugins"), "plugin");
    return own.some((plugin) => textsOf(plugin, "artifactId")[0] === artifact);
  }

  /** The artifacts of its dependencies, parent and plugins, own and inherited, as `group:artifact`. */
  dependencies(): string[] {
    const declared = objectsOf(memberOf(this.#project, "dependencies"), "dependency");
    const parent = objectsOf(this.#project, "parent");
    const plugins = objectsOf(memberOf(memberOf(this.#project, "build"), "plugins"), "plugin");
    const own = [...declared, ...parent, ...plugins].map(
      (one) => `${textsOf(one, "groupId")[0] ?? ""}:${textsOf(one, "artifactId")[0] ?? ""}`,
    );
    return [...own.map((name) => this.resolved(name) ?? name), ...(this.#parent?.dependencies() ?? [])];
  }

  /** The name of its artifact without an extension, if it is known and safe in a command. */
  finalName(): string | undefined {
    const named = textsOf(memberOf(this.#project, "build"), "finalName")[0];
    const artifact = textsOf(this.#project, "artifactId")[0];
    const name = this.resolved(named ?? `${artifact ?? "${"}-${"${project.version}"}`);
    return name !== undefined && PLAIN_FILE.test(name) ? name : undefined;
  }

  /** Resolves the references in a text; `undefined` when one is unknown. */
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
