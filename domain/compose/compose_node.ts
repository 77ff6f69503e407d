/** A file of a compose project, as its values see it. */
export interface ComposeFile {
  /** How a person is told of it: its path, or how it is written where a variable is part of that. */
  readonly name: string;
  /** What relative paths in it start from, inside the source; empty for the whole. */
  readonly folder: string;
  /** What its variables are, those that are not set left out. */
  readonly variables: ReadonlyMap<string, string>;
  /** The file that these variables stand for, whether it is there or not. */
  readonly variablesFile: string | null;
}

/** Where something is written. */
export interface Place {
  readonly file: ComposeFile;
  readonly line: number;
}

/** A value of a compose file, its variables put in, and where its key is written. */
export type ComposeNode = ComposeScalar | ComposeList | ComposeMap;

export interface ComposeScalar {
  readonly kind: "scalar";
  readonly at: Place;
  readonly tag?: string | undefined;
  readonly scalar: string | number | bigint | boolean | null;
  readonly text: string;
  /** As it is written, before its variables were put in: all that a message may show. */
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

/** A map with these entries at a place. */
export function mapNode(at: Place, entries: ReadonlyMap<string, ComposeNode> = new Map()): ComposeMap {
  return { kind: "map", at, entries };
}

/** A text at a place; `raw` is how it is written there. */
export function textNode(at: Place, text: string, raw: string = text): ComposeScalar {
  return { kind: "scalar", at, scalar: text, text, raw };
}

/** A value that says nothing. */
export function nullNode(at: Place): ComposeScalar {
  return { kind: "scalar", at, scalar: null, text: "", raw: "" };
}

/** Tells whether a key was written with nothing behind it. */
export function isNull(node: ComposeNode): boolean {
  return node.kind === "scalar" && node.scalar === null;
}

/** Tells whether two values say the same, wherever they are written. */
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
