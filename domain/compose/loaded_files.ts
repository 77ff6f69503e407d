import type { YamlReading } from "./yaml_node.ts";

/** A file that must be loaded before parsing can complete. */
export interface ComposeNeed {
  readonly path: string;
  readonly as: "yaml" | "text";
}

/** The content of a loaded file; `"absent"` when it does not exist or cannot be read. */
export type LoadedFile = YamlReading | { readonly text: string } | { readonly binary: true } | "absent";

/** The key of a loaded file, which may be needed both as YAML and as text. */
export function fileKey({ path, as }: ComposeNeed): string {
  return `${as}:${path}`;
}

/** The loaded files, and those that are still needed. */
export class LoadedFiles {
  readonly #loaded: ReadonlyMap<string, LoadedFile>;
  readonly #needs = new Map<string, ComposeNeed>();

  constructor(loaded: ReadonlyMap<string, LoadedFile>) {
    this.#loaded = loaded;
  }

  /** Returns a file, or `"pending"` when it must be loaded first, which adds it to `needs`. */
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
