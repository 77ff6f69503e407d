import type { ProjectTree } from "./project_tree.ts";

/** Paths that need no quotes in a command. */
const PLAIN_PATH = /^[A-Za-z0-9_@][A-Za-z0-9_@./-]*$/;

/** A folder of a project, with paths relative to it. Lookups are cached. */
export class ProjectFolder {
  /** Relative to the whole project, `""` for its root. */
  readonly path: string;
  readonly #tree: ProjectTree;
  /** All folders of this tree used so far, by path. */
  readonly #folders: Map<string, ProjectFolder>;
  readonly #made = new Map<string, unknown>();
  #files: readonly string[] | undefined;
  #inside: { readonly files: ReadonlySet<string>; readonly folders: ReadonlySet<string> } | undefined;

  constructor(tree: ProjectTree, path = "", folders: Map<string, ProjectFolder> = new Map()) {
    this.path = path;
    this.#tree = tree;
    this.#folders = folders;
    folders.set(path, this);
  }

  /** Returns whether a file exists. */
  has(path: string): boolean {
    const slash = path.indexOf("/");
    if (slash === -1) return this.#children().files.has(path);
    return this.hasFolder(path.slice(0, slash)) && this.at(path.slice(0, slash)).has(path.slice(slash + 1));
  }

  /** Returns the first of these files that exists. */
  first(paths: readonly string[]): string | undefined {
    return paths.find((path) => this.has(path));
  }

  /** Returns whether a folder exists and contains a file. */
  hasFolder(path: string): boolean {
    const slash = path.indexOf("/");
    if (slash === -1) return this.#children().folders.has(path);
    return this.hasFolder(path.slice(0, slash)) && this.at(path.slice(0, slash)).hasFolder(path.slice(slash + 1));
  }

  /** Returns the text of a manifest; `undefined` when it is absent or unreadable. */
  text(path: string): string | undefined {
    return this.has(path) ? this.#tree.text(this.#whole(path)) : undefined;
  }

  /** Returns the parsed data of a manifest; `undefined` when it is absent or invalid. */
  data(path: string): unknown {
    return this.has(path) ? this.#tree.data(this.#whole(path)) : undefined;
  }

  /** Returns the first of these names that exists as a file in this folder, else in its ancestors. */
  firstAbove(names: readonly string[]): string | undefined {
    for (const folder of this.outward()) {
      const found = folder.first(names);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /**
   * Returns all files below, relative to this folder and sorted. Slow in large projects, where `names` and `folders`
   * are fast.
   */
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
    return [...this.#children().files];
  }

  /** The names of the folders directly in this one, sorted. */
  folders(): string[] {
    return [...this.#children().folders];
  }

  /** Returns a subfolder. */
  at(path: string): ProjectFolder {
    const whole = this.#whole(path);
    return this.#folders.get(whole) ?? new ProjectFolder(this.#tree, whole, this.#folders);
  }

  /** Returns this folder and its ancestors, innermost first. */
  outward(): ProjectFolder[] {
    const parts = this.path === "" ? [] : this.path.split("/");
    const paths = [...parts.keys()].map((index) => parts.slice(0, index + 1).join("/")).toReversed();
    return [...paths, ""].map((path) => this.#folders.get(path) ?? new ProjectFolder(this.#tree, path, this.#folders));
  }

  /** Returns the result of `make` for this folder, cached by name. */
  once<T>(name: string, make: (folder: ProjectFolder) => T): T {
    if (!this.#made.has(name)) this.#made.set(name, make(this));
    return this.#made.get(name) as T;
  }

  /** Normalizes the path of a file that the project names; `undefined` unless it exists and is safe in a command. */
  commandPath(named: unknown): string | undefined {
    if (typeof named !== "string") return undefined;
    const path = named.replace(/^(?:\.\/)+/, "");
    return PLAIN_PATH.test(path) && this.has(path) ? path : undefined;
  }

  #whole(path: string): string {
    return this.path === "" ? path : `${this.path}/${path}`;
  }

  /** Lists the direct children; skips deeper paths by binary search, since the paths are sorted. */
  #children() {
    if (this.#inside !== undefined) return this.#inside;
    const { paths } = this.#tree;
    const prefix = this.#whole("");
    const end = prefix === "" ? paths.length : this.#position(after(prefix));
    const files = new Set<string>();
    const folders: string[] = [];
    for (let at = this.#position(prefix); at < end;) {
      const path = paths[at]!;
      const slash = path.indexOf("/", prefix.length);
      if (slash === -1) {
        files.add(path.slice(prefix.length));
        at++;
      } else {
        folders.push(path.slice(prefix.length, slash));
        at = this.#position(after(path.slice(0, slash + 1)), at + 1);
      }
    }
    this.#inside = { files, folders: new Set(folders.sort()) };
    return this.#inside;
  }

  /** The index of a path in the sorted list, or where it would be inserted. */
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

/** The first string after all paths in this folder, which ends with `/`. */
function after(prefix: string): string {
  return `${prefix.slice(0, -1)}0`;
}
