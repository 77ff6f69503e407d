/** An entry of a simulated folder. */
export type MemoryNode =
  | { readonly kind: "file"; readonly content: string; readonly mode: number }
  | { readonly kind: "folder"; readonly mode: number }
  | { readonly kind: "link"; readonly target: string };

const FILE_MODE = 0o644;
const FOLDER_MODE = 0o755;

/** A simulated folder with relative paths. Parent folders are created implicitly. */
export class MemoryTree {
  readonly #nodes = new Map<string, MemoryNode>();

  constructor(nodes: Iterable<readonly [path: string, node: MemoryNode]> = []) {
    for (const [path, node] of nodes) this.#put(path, node);
  }

  write(path: string, content: string): void {
    const before = this.#nodes.get(path);
    this.#put(path, { kind: "file", content, mode: before?.kind === "file" ? before.mode : FILE_MODE });
  }

  link(path: string, target: string): void {
    this.#put(path, { kind: "link", target });
  }

  folder(path: string): void {
    if (!this.#nodes.has(path)) this.#put(path, { kind: "folder", mode: FOLDER_MODE });
  }

  /** Changes the mode of an existing file or folder. */
  chmod(path: string, mode: number): void {
    const node = this.#nodes.get(path);
    if (node && node.kind !== "link") this.#nodes.set(path, { ...node, mode });
  }

  /** Removes the entry at a path and everything below it. */
  remove(path: string): void {
    for (const each of this.#nodes.keys()) if (isAtOrBelow(each, path)) this.#nodes.delete(each);
  }

  at(path: string): MemoryNode | undefined {
    return path === "" ? { kind: "folder", mode: FOLDER_MODE } : this.#nodes.get(path);
  }

  /** Returns all entries, sorted by path. */
  nodes(): [path: string, node: MemoryNode][] {
    return [...this.#nodes].toSorted(([a], [b]) => (a < b ? -1 : 1));
  }

  /** Returns the entries below a path, relative to it. */
  below(path: string): MemoryTree {
    if (path === "") return this;
    const inside = this.nodes().filter(([each]) => each !== path && isAtOrBelow(each, path));
    return new MemoryTree(inside.map(([each, node]) => [each.slice(path.length + 1), node]));
  }

  #put(path: string, node: MemoryNode): void {
    const parts = path.split("/");
    for (let depth = 1; depth < parts.length; depth++) this.folder(parts.slice(0, depth).join("/"));
    this.#nodes.set(path, node);
  }
}

function isAtOrBelow(each: string, path: string): boolean {
  return path === "" || each === path || each.startsWith(`${path}/`);
}
