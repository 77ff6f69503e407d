/** A compose file, as the context in which its values are resolved. */
export interface ComposeFile {
  /** The name in messages: its path, or the path as written if that contains a variable. */
  readonly name: string;
  /** The folder inside the source that relative paths are resolved against; empty for the source root. */
  readonly folder: string;
  /** The variables for interpolation; unset ones are absent. */
  readonly variables: ReadonlyMap<string, string>;
  /** The `.env` file that `variables` stand for, whether or not it exists. */
  readonly variablesFile: string | null;
}

/** The position of a value in a file. */
export interface Place {
  readonly file: ComposeFile;
  readonly line: number;
}

/** A value of a compose file with its variables interpolated, and the position of its key. */
export type ComposeNode = ComposeScalar | ComposeList | ComposeMap;

export interface ComposeScalar {
  readonly kind: "scalar";
  readonly at: Place;
  readonly tag?: string | undefined;
  readonly scalar: string | number | bigint | boolean | null;
  readonly text: string;
  /** The text as written, before interpolation. Messages must show only this. */
  readonly raw: string;
}

export interface ComposeList {
  readonly kind: "list";
  readonly at: Place;
  readonly tag?: string | undefined;
  readonly items: readonly ComposeNode[];
}

export interface ComposeMap {
  readonly kind: "map";
  readonly at: Place;
  readonly tag?: string | undefined;
  readonly entries: ReadonlyMap<string, ComposeNode>;
}

/** Creates a map node. */
export function mapNode(at: Place, entries: ReadonlyMap<string, ComposeNode> = new Map()): ComposeMap {
  return { kind: "map", at, entries };
}

/** Creates a text node; `raw` is the text as written, before interpolation. */
export function textNode(at: Place, text: string, raw: string = text): ComposeScalar {
  return { kind: "scalar", at, scalar: text, text, raw };
}

/** Creates a null node. */
export function nullNode(at: Place): ComposeScalar {
  return { kind: "scalar", at, scalar: null, text: "", raw: "" };
}

/** Returns whether a key has no value. */
export function isNull(node: ComposeNode): boolean {
  return node.kind === "scalar" && node.scalar === null;
}

/** Returns whether two values are equal, wherever they are written. */
export function hasSameContent(one: ComposeNode, other: ComposeNode): boolean {
  if (one.kind === "scalar") return other.kind === "scalar" && one.text === other.text;
  if (one.kind === "list") {
    if (other.kind !== "list" || one.items.length !== other.items.length) return false;
    return one.items.every((item, index) => hasSameContent(item, other.items[index]!));
  }
  if (other.kind !== "map" || one.entries.size !== other.entries.size) return false;
  return [...one.entries].every(([key, node]) => {
    const same = other.entries.get(key);
    return same !== undefined && hasSameContent(node, same);
  });
}
