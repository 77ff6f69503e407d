import { type ComposeFile, type ComposeNode, mapNode, nullNode } from "./compose_node.ts";
import type { Effort } from "./effort.ts";
import { interpolated, type ExpansionBudget } from "./interpolation.ts";
import { type Notes, quoted } from "./notes.ts";
import type { YamlNode } from "./yaml_node.ts";

const TAGS = new Set(["!reset", "!override"]);

/** The context of the nodes of one file. */
export interface NodeContext {
  readonly file: ComposeFile;
  readonly notes: Notes;
  readonly budget: ExpansionBudget;
  readonly effort: Effort;
}

/**
 * Converts the YAML of a file to nodes with positions and interpolated variables. Drops top-level `x-` keys, as nothing
 * reads them.
 */
export function placedNodes(root: YamlNode, context: NodeContext): ComposeNode {
  const { value } = root;
  if (value.kind !== "map") return placed(root, root.line, context);
  const entries = value.entries.filter(({ key }) => !key.startsWith("x-"));
  return placed({ ...root, value: { kind: "map", entries } }, root.line, context);
}

function placed({ value, tag, line: own }: YamlNode, line: number, context: NodeContext): ComposeNode {
  const { file, notes, effort } = context;
  effort.spend(1);
  const at = { file, line };
  if (tag !== undefined && !TAGS.has(tag)) {
    notes.problem(at, `Cannot understand the tag ${quoted(tag)}: only !reset and !override are supported. Remove it`);
  }
  const tagged = tag !== undefined && { tag };
  if (tag === "!reset") return { ...nullNode(at), tag };
  if (value.kind === "list") {
    // A list behind an alias has the position of the alias, its items have those of the anchor.
    const items = value.items.map((item) => placed(item, item.line, context));
    return { kind: "list", at, items, ...tagged };
  }
  if (value.kind === "map") {
    const entries = value.entries.map((entry) => [entry.key, placed(entry.node, entry.line, context)] as const);
    return { ...mapNode(at, new Map(entries)), ...tagged };
  }
  if (typeof value.scalar !== "string") return { at, ...value, raw: value.text, ...tagged };
  const text = textOf(value.scalar, { file, line: Math.max(line, own) }, context);
  return { kind: "scalar", at, scalar: text, text, raw: value.text, ...tagged };
}

function textOf(raw: string, at: { readonly file: ComposeFile; readonly line: number }, context: NodeContext): string {
  const { file, notes, budget } = context;
  const unset = (name: string) =>
    notes.warning(
      at,
      `The variable ${name} is not set, so it is empty here. Set it among the variables of the project`,
    );
  const result = interpolated(raw, { variables: file.variables, budget: budget, unset });
  if ("value" in result) return result.value;
  notes.unknownValue(at, `Cannot put variables into ${quoted(raw)}: ${result.wrong}`, result.missing);
  return "";
}
