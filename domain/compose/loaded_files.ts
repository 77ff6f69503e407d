import type { YamlReading } from "./yaml_node.ts";

/** A file that has to be read before more can be told. */
export interface ComposeNeed {
  readonly path: string;
  readonly as: "yaml" | "text";
}

/** What a file turned out to be; `"absent"` when there is none that could be read. */
export type LoadedFile = YamlReading | { readonly text: string } | { readonly binary: true } | "absent";

/** The key under which a file is kept: the same one may be read in both ways. */
export function fileKey({ path, as }: ComposeNeed): string {
  return `${as}:${path}`;
}

/** The files that were loaded, and which ones are missed. */
export class LoadedFiles {
  readonly #loaded: ReadonlyMap<string, LoadedFile>;
  readonly #needs = new Map<string, ComposeNeed>();

  constructor(loaded: ReadonlyMap<string, LoadedFile>) {
    this.#loaded = loaded;
  }

  /** What a file is, or `"pending"` when it has to be loaded first. */
  get(path: string, as: ComposeNeed["as"]): LoadedFile | "pending" {
    const need = { path, as };
    const file = this.#loaded.get(fileKey(need));
    if (file !== undefined) return file;
    this.#needs.set(fileKey(need), need);
    return "pending";
  }

  get needs(): readonly ComposeNeed[] {
    return [...this.#needs.values()];
  }
}
