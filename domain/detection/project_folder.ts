import type { ProjectTree } from "./project_tree.ts";

/** Names that may stand in a command without quotes. */
const PLAIN_PATH = /^[A-Za-z0-9_@][A-Za-z0-9_@./-]*$/;

/** What was worked out for the folders of a tree. */
const REMEMBERED = new WeakMap<ProjectTree, Map<string, unknown>>();

/** One folder of a project, with paths relative to it. */
export class ProjectFolder {
  /** Relative to the whole project, `""` for all of it. */
  readonly path: string;
  readonly #tree: ProjectTree;
  readonly #known: ReadonlySet<string>;
  #files: readonly string[] | undefined;

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

  /** Tells whether there is a folder of this path with a file in it. */
  hasFolder(path: string): boolean {
    const prefix = this.#whole(`${path}/`);
    return this.#tree.paths[this.#position(prefix)]?.startsWith(prefix) ?? false;
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

  /** Every file below, relative to this folder, sorted. In large projects these are many: `names` and `folders` are quick. */
  files(): readonly string[] {
    const prefix = this.#whole("");
    this.#files ??=
      prefix === ""
        ? this.#tree.paths
        : this.#tree.paths
            .slice(this.#position(prefix), this.#position(after(prefix)))
            .map((path) => path.slice(prefix.length));
    return this.#files;
  }

  /** The names of the files directly in this folder, sorted. */
  names(): string[] {
    return this.#children().flatMap(({ name, isFolder }) => (isFolder ? [] : [name]));
  }

  /** The names of the folders directly in this one, sorted. */
  folders(): string[] {
    return this.#children()
      .flatMap(({ name, isFolder }) => (isFolder ? [name] : []))
      .toSorted();
  }

  /** A folder in this one. */
  at(path: string): ProjectFolder {
    return new ProjectFolder(this.#tree, this.#whole(path), this.#known);
  }

  /** This folder and those it lies in, the innermost first. */
  outward(): ProjectFolder[] {
    const parts = this.path === "" ? [] : this.path.split("/");
    const paths = [...parts.keys()].map((index) => parts.slice(0, index + 1).join("/")).toReversed();
    return [...paths, ""].map((path) => new ProjectFolder(this.#tree, path, this.#known));
  }

  /** The same as `outward`. */
  upward(): ProjectFolder[] {
    return this.outward();
  }

  /** What `make` gives for this folder, made once for all that ask for it by this name while the same tree is looked at. */
  once<T>(name: string, make: (folder: ProjectFolder) => T): T {
    const remembered = REMEMBERED.get(this.#tree) ?? new Map<string, unknown>();
    REMEMBERED.set(this.#tree, remembered);
    const key = `${name} ${this.path}`;
    if (!remembered.has(key)) remembered.set(key, make(this));
    return remembered.get(key) as T;
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

  /** What lies directly in this folder; what lies deeper is leapt over, since the paths are sorted. */
  #children(): { readonly name: string; readonly isFolder: boolean }[] {
    const { paths } = this.#tree;
    const prefix = this.#whole("");
    const end = prefix === "" ? paths.length : this.#position(after(prefix));
    const found: { name: string; isFolder: boolean }[] = [];
    for (let at = this.#position(prefix); at < end;) {
      const rest = paths[at]!.slice(prefix.length);
      const slash = rest.indexOf("/");
      const name = slash === -1 ? rest : rest.slice(0, slash);
      found.push({ name, isFolder: slash !== -1 });
      at = slash === -1 ? at + 1 : this.#position(after(`${prefix}${name}/`), at + 1);
    }
    return found;
  }

  /** Where a path lies or would lie among all of them. */
  #position(path: string, from = 0): number {
    const { paths } = this.#tree;
    let [low, high] = [from, paths.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (paths[middle]! < path) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** The first text after all that begin with this folder, which ends with `/`. */
function after(prefix: string): string {
  return `${prefix.slice(0, -1)}0`;
}
