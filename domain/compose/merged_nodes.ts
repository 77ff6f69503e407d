import { type ComposeNode, isNull } from "./compose_node.ts";
import { type Notes, quoted } from "./notes.ts";

/** Values that a later file replaces as a whole; other lists are appended and other maps are merged by key. */
const REPLACED = [/^services\.[^.]+\.(?:command|entrypoint)$/, /^services\.[^.]+\.healthcheck\.test$/];
/**
 * Where a key without a value has a meaning: its value comes from the project, or is the default. Elsewhere it changes
 * nothing.
 */
const NAME_ALONE = /^services\.[^.]+\.(?:environment|labels|build\.args|depends_on)\.[^.]*$/;

/**
 * Merges one value over another as compose merges files: maps by key, lists appended, everything else replaced.
 * `!reset` removes and `!override` replaces.
 */
export function mergedNodes(
  notes: Notes,
  base: ComposeNode,
  over: ComposeNode,
  path: readonly string[] = [],
): ComposeNode {
  const where = path.map((part) => part.replaceAll(".", "_")).join(".");
  if (over.tag === "!override" || REPLACED.some((pattern) => pattern.test(where))) return settled(over);
  if (isNull(over)) return NAME_ALONE.test(where) ? settled(over) : base;
  if (isNull(base)) return settled(over);
  if (base.kind === "scalar" && over.kind === "scalar") return over;
  if (base.kind === "list" && over.kind === "list") {
    return { ...over, items: [...base.items, ...over.items.map(settled)] };
  }
  if (base.kind === "map" && over.kind === "map") {
    const entries = new Map(base.entries);
    for (const [key, node] of over.entries) {
      const known = entries.get(key);
      if (node.tag === "!reset") entries.delete(key);
      else entries.set(key, known === undefined ? settled(node) : mergedNodes(notes, known, node, [...path, key]));
    }
    return { ...base, entries };
  }
  const kinds = `it is a ${kindOf(over)} here and a ${kindOf(base)} in line ${base.at.line} of ${base.at.file.name}`;
  notes.problem(over.at, `Cannot merge ${quoted(path.at(-1) ?? "this")}: ${kinds}. Use the same kind in both`);
  return base;
}

function kindOf({ kind }: ComposeNode): string {
  return kind === "scalar" ? "single value" : kind;
}

/** Removes all tags, and the values that `!reset` removes. */
export function settled(node: ComposeNode): ComposeNode {
  const { tag: _tag, ...plain } = node;
  if (plain.kind === "list") {
    return { ...plain, items: plain.items.filter(({ tag }) => tag !== "!reset").map(settled) };
  }
  if (plain.kind === "map") {
    const kept = [...plain.entries].filter(([, { tag }]) => tag !== "!reset");
    return { ...plain, entries: new Map(kept.map(([key, value]) => [key, settled(value)])) };
  }
  return plain;
}
