import { posix } from "node:path";
import type { ContextEntry } from "./context_entry.ts";

const WILD = /[*?[\\]/;

/**
 * Returns the entries that a build needs for some of its paths: those at and below the paths, their parent folders, and
 * the targets of all symlinks among them. A path with wildcards counts as the folder before the first wildcard: sends
 * too much rather than too little.
 */
export function followPaths(entries: readonly ContextEntry[], paths: readonly string[]): readonly ContextEntry[] {
  const starts = paths.map((path) => fixedPart(relative(path)));
  if (starts.includes("")) return entries;
  const follow = new Following(entries);
  for (const start of starts) follow.add(start);
  return follow.selected();
}

class Following {
  readonly #entries: readonly ContextEntry[];
  readonly #byPath: ReadonlyMap<string, ContextEntry>;
  /** Included with everything below them. */
  readonly #roots = new Set<string>();
  /** Their parent folders, and symlinks on the way. */
  readonly #single = new Set<string>();
  readonly #added = new Set<string>();
  #all = false;

  constructor(entries: readonly ContextEntry[]) {
    this.#entries = entries;
    this.#byPath = new Map(entries.map((entry) => [entry.path, entry]));
  }

  add(path: string): void {
    if (path === "") this.#all = true;
    if (this.#all || this.#added.has(path)) return;
    this.#added.add(path);
    const parts = path.split("/");
    for (let count = 1; count <= parts.length; count++) {
      const at = parts.slice(0, count).join("/");
      const entry = this.#byPath.get(at);
      if (entry === undefined) return;
      this.#single.add(at);
      if (entry.kind !== "link") continue;
      return this.add(relative([posix.dirname(at), entry.target, ...parts.slice(count)].join("/")));
    }
    this.#roots.add(path);
  }

  selected(): readonly ContextEntry[] {
    const followed = new Set<ContextEntry>();
    for (;;) {
      if (this.#all) return this.#entries;
      const selected = this.#entries.filter(({ path }) => this.#single.has(path) || this.#isBelowRoot(path));
      const links = selected.filter((entry) => entry.kind === "link" && !followed.has(entry));
      if (links.length === 0) return selected;
      for (const link of links) {
        followed.add(link);
        this.add(relative(`${posix.dirname(link.path)}/${link.target}`));
      }
    }
  }

  #isBelowRoot(path: string): boolean {
    for (let end = path.length; end > 0; end = path.lastIndexOf("/", end - 1)) {
      if (this.#roots.has(path.slice(0, end))) return true;
    }
    return false;
  }
}

/** Returns a path relative to the folder; `..` never leads above it. */
function relative(path: string): string {
  return posix.normalize(`/${path}`).replace(/^\/+|\/+$/g, "");
}

function fixedPart(path: string): string {
  const parts = path.split("/");
  const wild = parts.findIndex((part) => WILD.test(part));
  return wild === -1 ? path : parts.slice(0, wild).join("/");
}
