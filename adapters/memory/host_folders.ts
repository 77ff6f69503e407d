import { posix } from "node:path";
import type { HostFolders } from "../../ports/projects/host_folders.ts";

const MAX_LINKS = 40;

/** Simulated host folders: real folders, and symlinks with their targets. */
export class MemoryHostFolders implements HostFolders {
  readonly #folders: ReadonlySet<string>;
  readonly #links: ReadonlyMap<string, string>;

  /**
   * Takes the real paths of readable folders (their parents count too) and absolute symlink paths with absolute
   * targets.
   */
  constructor(folders: Iterable<string> = [], links: Readonly<Record<string, string>> = {}) {
    this.#folders = new Set([...folders].flatMap((folder) => [folder, ...parents(folder)]));
    this.#links = new Map(Object.entries(links));
  }

  async resolve(path: string): Promise<string | undefined> {
    if (!path.startsWith("/")) return undefined;
    let names = path.split("/");
    let real = "/";
    for (let links = 0; names.length > 0 && links <= MAX_LINKS;) {
      const [name = "", ...rest] = names;
      const target = this.#links.get(posix.join(real, name));
      names = target === undefined ? rest : [...target.split("/"), ...rest];
      real = target === undefined ? posix.join(real, name) : "/";
      if (target !== undefined) links += 1;
      else if (!this.#folders.has(real) && real !== "/") return undefined;
    }
    return names.length === 0 ? real : undefined;
  }

  locate(path: string): Promise<string | undefined> {
    return this.resolve(path);
  }
}

function parents(folder: string): string[] {
  const parent = posix.dirname(folder);
  return parent === folder ? [] : [parent, ...parents(parent)];
}
