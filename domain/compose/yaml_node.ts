/** A value of a YAML document and where it begins. */
export interface YamlNode {
  /** From 1 on. */
  readonly line: number;
  readonly value: YamlValue;
  /** A tag of the file's own, such as `!reset`. */
  readonly tag?: string;
}

export type YamlValue =
  /** `text` is a text itself, and anything else as it is written. */
  | { readonly kind: "scalar"; readonly scalar: string | number | bigint | boolean | null; readonly text: string }
  | { readonly kind: "list"; readonly items: readonly YamlNode[] }
  /** Merge keys (`<<`) are resolved, and no key is there twice. */
  | { readonly kind: "map"; readonly entries: readonly YamlEntry[] };

export interface YamlEntry {
  readonly key: string;
  readonly line: number;
  readonly node: YamlNode;
}

/** Why a text could not be read. */
export interface YamlProblem {
  readonly line: number;
  readonly message: string;
}

/** What a text was read as, or its first problem. */
export type YamlReading = { readonly root: YamlNode } | { readonly problem: YamlProblem };
