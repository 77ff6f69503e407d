import type { ProjectTree } from "./project_tree.ts";

/** Names that may stand in a command without quotes. */
const PLAIN_PATH = /^[A-Za-z0-9_@][A-Za-z0-9_@./-]*$/;

/** One folder of a project, with paths relative to it. */
export class ProjectFolder {
  /** Relative to the whole project, `""` for all of it. */
  readonly path: string;
  readonly #tree: ProjectTree;
  readonly #known: ReadonlySet<string>;

  constructor(tree: ProjectTree, path = "", known: ReadonlySet<string> = new Set(tree.paths)) {
    this.path = path;
    this.#tree = tree;
    this.#known = known;
  }

  /** Tells whether there is a file of this path. */
  has(path: string): boolean {
    return this.#known.has(this.#whole(path));
  }

  /** The first of these files that exists. */
  first(paths: readonly string[]): string | undefined {
    return paths.find((path) => this.has(path));
  }

  /** The text of a manifest, when it exists and could be read. */
  text(path: string): string | undefined {
    return this.has(path) ? this.#tree.text(this.#whole(path)) : undefined;
  }

  /** A manifest as data, when it exists and could be parsed. */
  data(path: string): unknown {
    return this.has(path) ? this.#tree.data(this.#whole(path)) : undefined;
  }

  /** The first of these files that exists here or in a folder above, by its bare name. */
  firstAbove(names: readonly string[]): string | undefined {
    const parts = this.path === "" ? [] : this.path.split("/");
    for (let depth = parts.length; depth >= 0; depth--) {
      const prefix = parts.slice(0, depth).map((part) => `${part}/`);
      const found = names.find((name) => this.#known.has(prefix.join("") + name));
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** This folder and those above it, the nearest first. */
  upward(): ProjectFolder[] {
    const parts = this.path === "" ? [] : this.path.split("/");
    const above = parts.map((_, index) => parts.slice(0, parts.length - index - 1).join("/"));
    return [this, ...above.map((path) => new ProjectFolder(this.#tree, path, this.#known))];
  }

  /** Every file below, relative to this folder, sorted. */
  files(): string[] {
    const prefix = this.#whole("");
    return this.#tree.paths.filter((path) => path.startsWith(prefix)).map((path) => path.slice(prefix.length));
  }

  /** The names of the folders directly in this one, sorted. */
  folders(): string[] {
    const names = this.files().flatMap((path) => (path.includes("/") ? [path.slice(0, path.indexOf("/"))] : []));
    return [...new Set(names)];
  }

  /** A folder in this one. */
  at(path: string): ProjectFolder {
    return new ProjectFolder(this.#tree, this.#whole(path), this.#known);
  }

  /** A file named by the project, brought into plain form, when it exists and is safe to stand in a command. */
  commandPath(named: unknown): string | undefined {
    if (typeof named !== "string") return undefined;
    const path = named.replace(/^(?:\.\/)+/, "");
    return PLAIN_PATH.test(path) && this.has(path) ? path : undefined;
  }

  #whole(path: string): string {
    return this.path === "" ? path : `${this.path}/${path}`;
  }
}
