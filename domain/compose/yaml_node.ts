/** A value of a YAML document and the line that it begins in. */
export interface YamlNode {
  /** Counted from 1. */
  readonly line: number;
  readonly value: YamlValue;
  /** A custom tag, such as `!reset`. */
  readonly tag?: string;
}

export type YamlValue =
  /** `text` is the string itself; for any other scalar it is the text as written. */
  | { readonly kind: "scalar"; readonly scalar: string | number | bigint | boolean | null; readonly text: string }
  | { readonly kind: "list"; readonly items: readonly YamlNode[] }
  /** Merge keys (`<<`) are resolved, and keys are unique. */
  | { readonly kind: "map"; readonly entries: readonly YamlEntry[] };

export interface YamlEntry {
  readonly key: string;
  readonly line: number;
  readonly node: YamlNode;
}

/** Why a YAML text could not be parsed. */
export interface YamlProblem {
  readonly line: number;
  readonly message: string;
}

/** A parsed YAML text, or its first problem. */
export type YamlReading = { readonly root: YamlNode } | { readonly problem: YamlProblem };
