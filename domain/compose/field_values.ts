import { type ComposeNode, type ComposeScalar, isNull } from "./compose_node.ts";
import { type Notes, shown, wrongOf } from "./notes.ts";
import type { Notation } from "../services/notation.ts";

const TRUE = new Set(["true", "yes", "on", "y"]);
const FALSE = new Set(["false", "no", "off", "n"]);
const OCTAL = /^[-+]?0[0-7]{1,16}$/;
const NUMBER = /^[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d{1,2})?$/i;

/**
 * Returns the text of a scalar; adds a problem and returns `undefined` for anything else. `what` names it in the
 * message.
 */
export function textIn(notes: Notes, node: ComposeNode, what: string): string | undefined {
  if (node.kind === "scalar" && !isNull(node)) {
    if (!node.text.includes("\0")) return plainText(node);
    notes.problem(node.at, `Cannot read ${what}: it contains a NUL character`);
  } else notes.problem(node.at, `Cannot read ${what}: it has to be a single value`);
  return undefined;
}

/** Normalizes numbers and booleans; a number with a leading 0 is octal, as in compose. Texts stay unchanged. */
function plainText({ scalar, text }: ComposeScalar): string {
  if (typeof scalar === "number" && OCTAL.test(text)) return String(parseInt(text, 8));
  if (typeof scalar === "number" && !(Number.isInteger(scalar) && !Number.isSafeInteger(scalar))) {
    return Number.isFinite(scalar) ? String(scalar) : text;
  }
  return typeof scalar === "boolean" ? String(scalar) : text;
}

/** Parses a boolean; adds a problem and returns `undefined` for anything else. */
export function truthIn(notes: Notes, node: ComposeNode, what: string): boolean | undefined {
  const word = node.kind === "scalar" ? node.text.toLowerCase() : "";
  if (TRUE.has(word)) return true;
  if (FALSE.has(word)) return false;
  notes.problem(node.at, `Cannot read ${what}: it has to be true or false`);
  return undefined;
}

/** Parses a number of at least `least`; adds a problem and returns `undefined` for anything else. */
export function numberIn(
  notes: Notes,
  node: ComposeNode,
  { what, whole = false, least = 0 }: { readonly what: string; readonly whole?: boolean; readonly least?: number },
): number | undefined {
  const text = node.kind === "scalar" ? plainText(node).trim() : "";
  const number = NUMBER.test(text) ? Number(text) : NaN;
  if (number >= least && (!whole || Number.isSafeInteger(number))) return number;
  notes.problem(
    node.at,
    `Cannot read ${what}: ${shown(node)} is not a ${whole ? "whole " : ""}number of at least ${least}`,
  );
  return undefined;
}

/** Parses a short notation; adds a problem and returns `undefined` when it is invalid. */
export function notationIn<T>(
  notes: Notes,
  node: ComposeNode,
  { what, read }: { readonly what: string; readonly read: (text: string) => Notation<T> },
): T | undefined {
  const text = textIn(notes, node, what);
  if (text === undefined) return undefined;
  const result = read(text);
  if ("value" in result) return result.value;
  notes.problem(node.at, `Cannot read ${shown(node)} as ${what}: ${wrongOf(node, result.wrong)}`);
  return undefined;
}

/** Returns the items of a list, none for a missing or null value; adds a problem for anything else. */
export function itemsIn(notes: Notes, node: ComposeNode | undefined, what: string): readonly ComposeNode[] {
  if (node === undefined || isNull(node)) return [];
  if (node.kind === "list") return node.items;
  notes.problem(node.at, `Cannot read ${what}: it has to be a list`);
  return [];
}

/** Returns the entries of a map, none for a missing or null value; adds a problem for anything else. */
export function entriesIn(notes: Notes, node: ComposeNode | undefined, what: string): ReadonlyMap<string, ComposeNode> {
  if (node === undefined || isNull(node)) return new Map();
  if (node.kind === "map") return node.entries;
  notes.problem(node.at, `Cannot read ${what}: it has to be a map`);
  return new Map();
}

/** Returns the texts of a list. */
export function textsIn(notes: Notes, node: ComposeNode | undefined, what: string): readonly string[] {
  return itemsIn(notes, node, what).flatMap((item) => textIn(notes, item, what) ?? []);
}
