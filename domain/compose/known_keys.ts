import { type ComposeNode, isNull } from "./compose_node.ts";
import { entriesIn } from "./field_values.ts";
import { nearestWord } from "../nearest_word.ts";
import { type Notes, quoted } from "./notes.ts";

/** How a key is handled: read, refused with a reason, or ignored with a warning that gives the reason. */
export type KeyRule = "read" | { readonly refused: string } | { readonly left: string };

export type KeyRules = Readonly<Record<string, KeyRule>>;

/**
 * Returns the entries of a map that are read; refuses, warns about or reports as unknown the others. `whose` ends the
 * messages, such as `of web`.
 */
export function knownKeys(
  notes: Notes,
  node: ComposeNode | undefined,
  { rules, whose }: { readonly rules: KeyRules; readonly whose: string },
): ReadonlyMap<string, ComposeNode> {
  const read = new Map<string, ComposeNode>();
  for (const [key, value] of entriesIn(notes, node, whose.replace(/^of /, ""))) {
    if (key.startsWith("x-")) continue;
    const rule = Object.hasOwn(rules, key) ? rules[key] : undefined;
    if (rule === undefined) unknown(notes, value, { key, rules, whose });
    else if (isNull(value) || says(value, false)) {
      // A null or false value requests nothing, so it is neither refused nor warned about.
      if (rule === "read" && !isNull(value)) read.set(key, value);
    } else if (rule === "read") read.set(key, value);
    else if ("refused" in rule) notes.problem(value.at, `Cannot use ${quoted(key)} ${whose}: ${rule.refused}`);
    else notes.warning(value.at, `Left out ${quoted(key)} ${whose}: ${rule.left}`);
  }
  return read;
}

/** Rules that read each of the keys. */
export function readKeys(...keys: readonly string[]): KeyRules {
  return Object.fromEntries(keys.map((key) => [key, "read"]));
}

/** Rules that ignore each of the keys, with a warning that gives the reason. */
export function leftKeys(reason: string, ...keys: readonly string[]): KeyRules {
  return Object.fromEntries(keys.map((key) => [key, { left: reason }]));
}

/** Rules that refuse each of the keys, with the reason. */
export function refusedKeys(reason: string, ...keys: readonly string[]): KeyRules {
  return Object.fromEntries(keys.map((key) => [key, { refused: reason }]));
}

function says(node: ComposeNode, truth: boolean): boolean {
  return node.kind === "scalar" && (node.scalar === truth || node.text === String(truth));
}

function unknown(
  notes: Notes,
  { at }: ComposeNode,
  { key, rules, whose }: { readonly key: string; readonly rules: KeyRules; readonly whose: string },
): void {
  const near = nearestWord(key, Object.keys(rules));
  const next = near === undefined ? "Remove it, or begin its name with x-" : `Did you mean "${near}"?`;
  notes.problem(at, `Cannot understand ${quoted(key)} ${whose}: there is no such key. ${next}`);
}
