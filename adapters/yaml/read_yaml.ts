import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Pair,
  parseDocument,
  type ParsedNode,
  Scalar,
  type YAMLMap,
} from "yaml";
import type { YamlEntry, YamlNode, YamlProblem, YamlReading, YamlValue } from "../../domain/compose/yaml_node.ts";

const MAX_VALUES = 20_000;
const MAX_DEPTH = 100;
const MAX_TOKENS = 50_000;
const CORE_TAG = /^tag:yaml\.org,2002:(?:str|int|float|bool|null|map|seq)$/;
const KEY_LENGTH = 60;

/** Parses synchronously, in time that may grow faster than the text: the caller must bound its length. */
export function readYaml(text: string): YamlReading {
  const lines = new LineCounter();
  try {
    const plain = text.replace(/^\uFEFF/, "");
    checkTokens(plain);
    const document = parseDocument(plain, {
      lineCounter: lines,
      // Both are done below, because the library takes quadratic time in the number of keys.
      merge: false,
      uniqueKeys: false,
      prettyErrors: false,
      logLevel: "error",
      schema: "core",
      version: "1.2",
    });
    const [error] = document.errors;
    if (error !== undefined) {
      const line = lines.linePos(error.pos[0]).line;
      return { problem: { line: Math.max(1, line), message: sentence(error.code) } };
    }
    return { root: new Resolution(lines).root(document) };
  } catch (error) {
    if (error instanceof Refusal) return { problem: error.problem };
    if (error instanceof RangeError) return { problem: { line: 1, message: TOO_DEEP } };
    return { problem: { line: 1, message: "Cannot read this as YAML: correct it" } };
  }
}

/**
 * Rejects texts that would cost the library much time and memory: it creates an object per token and an error per wrong
 * one.
 */
function checkTokens(text: string): void {
  let signs = 0;
  let depth = 0;
  for (const sign of new Lexer().lex(text)) {
    signs += 1;
    if (sign === "[" || sign === "{") depth += 1;
    else if (sign === "]" || sign === "}") depth -= 1;
    if (depth > MAX_DEPTH) throw new Refusal({ line: 1, message: TOO_DEEP });
    if (signs > MAX_TOKENS) throw new Refusal({ line: 1, message: TOO_LONG });
  }
}

const TOO_DEEP = `Cannot read this: more than ${MAX_DEPTH} lists and maps are nested. Flatten it`;
const TOO_LONG = `Cannot read this: it has more than ${MAX_TOKENS} tokens. Split it up`;
const TOO_MANY = `Cannot read this: it expands to more than ${MAX_VALUES} values. Use fewer aliases`;

/** Replaces the library's error messages, which quote the text and so possibly a secret. */
function sentence(code: string): string {
  const reason = REASONS[code] ?? `it is not YAML (${code.toLowerCase().replaceAll("_", " ")})`;
  return `Cannot read this: ${reason}. Correct it`;
}

const REASONS: Readonly<Record<string, string>> = {
  BAD_INDENT: "the line is indented too little or too much",
  BAD_DQ_ESCAPE: "a backslash is followed by a character that cannot be escaped",
  BLOCK_AS_IMPLICIT_KEY:
    "there is a map where only one value fits; look for an extra colon or a line that is indented too much",
  MISSING_CHAR: "a character is missing: a quote, bracket, comma or colon",
  MULTILINE_IMPLICIT_KEY: "a key spans several lines; look for a missing colon",
  MULTIPLE_DOCS: "there is more than one document; keep one of them",
  TAB_AS_INDENT: "there is a tab where only spaces are allowed",
  UNEXPECTED_TOKEN: "there is something where it is not allowed; look for a missing quote or bracket",
};

class Refusal extends Error {
  readonly problem: YamlProblem;

  constructor(problem: YamlProblem) {
    super(problem.message);
    this.problem = problem;
  }
}

/** Converts the library's nodes to plain ones. The target of several aliases is converted once. */
class Resolution {
  readonly #lines: LineCounter;
  readonly #anchors = new Map<string, YamlNode | "open">();
  readonly #sizes = new Map<YamlNode, number>();
  #values = 0;

  constructor(lines: LineCounter) {
    this.#lines = lines;
  }

  root(document: Document.Parsed): YamlNode {
    if (document.contents === null) return { line: 1, value: { kind: "scalar", scalar: null, text: "" } };
    return this.#node(document.contents, 0, 1);
  }

  #lineOf(node: { readonly range?: readonly number[] | null | undefined }, otherwise: number): number {
    return node.range ? Math.max(1, this.#lines.linePos(node.range[0] ?? 0).line) : otherwise;
  }

  #node(node: ParsedNode | null, depth: number, line: number): YamlNode {
    if (node === null) return this.#sized({ line, value: { kind: "scalar", scalar: null, text: "" } }, 1);
    const here = this.#lineOf(node, line);
    if (depth > MAX_DEPTH) throw new Refusal({ line: here, message: TOO_DEEP });
    if (isAlias(node)) return this.#alias(node.source, here);
    const { anchor } = node;
    if (anchor !== undefined) this.#anchors.set(anchor, "open");
    const value = this.#value(node, depth, here);
    const tag = node.tag === undefined || CORE_TAG.test(node.tag) || node.tag === "!" ? undefined : node.tag;
    const made = this.#sized({ line: here, value, ...(tag !== undefined && { tag }) }, this.#sizeOf(value));
    if (anchor !== undefined) this.#anchors.set(anchor, made);
    return made;
  }

  #alias(name: string, line: number): YamlNode {
    const meant = this.#anchors.get(name);
    if (meant === "open")
      throw new Refusal({ line, message: "Cannot read this: an alias is inside the value that it repeats" });
    if (meant !== undefined) {
      this.#count(this.#sizes.get(meant) ?? 1, line);
      return meant;
    }
    throw new Refusal({ line, message: `Cannot read this: there is no anchor &${clipped(name)} before this alias` });
  }

  #sized(node: YamlNode, size: number): YamlNode {
    this.#count(1, node.line);
    this.#sizes.set(node, size);
    return node;
  }

  /** Counts values, including those repeated by an alias. Throws above the limit. */
  #count(values: number, line: number): void {
    this.#values += values;
    if (this.#values > MAX_VALUES) throw new Refusal({ line, message: TOO_MANY });
  }

  #sizeOf(value: YamlValue): number {
    if (value.kind === "scalar") return 1;
    const inner = value.kind === "list" ? value.items : value.entries.map(({ node }) => node);
    return inner.reduce((sum, node) => sum + (this.#sizes.get(node) ?? 1), 1);
  }

  #value(node: Exclude<ParsedNode, { source: string; resolve: unknown }>, depth: number, line: number): YamlValue {
    if (isSeq(node))
      return { kind: "list", items: node.items.map((item) => this.#node(item as ParsedNode, depth + 1, line)) };
    if (isMap(node)) return { kind: "map", entries: this.#entries(node as YAMLMap.Parsed, depth, line) };
    const { value, source } = node as Scalar.Parsed;
    const scalar = isPlain(value) ? value : String(source ?? "");
    return { kind: "scalar", scalar, text: typeof scalar === "string" ? scalar : (source ?? String(scalar)) };
  }

  #entries(map: YAMLMap.Parsed, depth: number, mapLine: number): YamlEntry[] {
    const own = new Map<string, YamlEntry>();
    const merged: YamlEntry[] = [];
    for (const pair of map.items as Pair<ParsedNode, ParsedNode | null>[]) {
      const line = pair.key ? this.#lineOf(pair.key, mapLine) : mapLine;
      const key = keyOf(pair.key, line);
      const node = this.#node(pair.value, depth + 1, line);
      if (own.has(key) || (merged.length > 0 && isMergeKey(pair.key))) {
        throw new Refusal({
          line,
          message: `Cannot read this: the key "${clipped(key)}" is there twice. Keep one of them`,
        });
      }
      if (isMergeKey(pair.key)) merged.push(...mergedEntries(node, line));
      else own.set(key, { key, line, node });
    }
    const all = new Map<string, YamlEntry>();
    // The first of several merged maps wins, and explicit keys override all of them.
    for (const entry of merged) if (!own.has(entry.key) && !all.has(entry.key)) all.set(entry.key, entry);
    return [...own.values(), ...all.values()];
  }
}

function mergedEntries({ value }: YamlNode, line: number): readonly YamlEntry[] {
  if (value.kind === "map") return value.entries;
  if (value.kind === "list" && value.items.every((item) => item.value.kind === "map")) {
    return value.items.flatMap((item) => (item.value.kind === "map" ? item.value.entries : []));
  }
  throw new Refusal({ line, message: 'Cannot read this: "<<" takes a map, an alias of one, or a list of these' });
}

function isMergeKey(key: ParsedNode | null): boolean {
  // With an explicit tag, the library gives the merge key another value.
  return isScalar(key) && key.source === "<<" && key.type === Scalar.PLAIN;
}

function keyOf(key: ParsedNode | null, line: number): string {
  if (isScalar(key) && key.value !== null) {
    return typeof key.value === "string" ? key.value : (key.source ?? String(key.value));
  }
  throw new Refusal({ line, message: "Cannot read this: a key has to be a text" });
}

function isPlain(value: unknown): value is string | number | bigint | boolean | null {
  return value === null || ["string", "number", "bigint", "boolean"].includes(typeof value);
}

function clipped(text: string): string {
  const plain = text.slice(0, KEY_LENGTH).replaceAll(/[\p{Cc}\p{Cs}]/gu, "?");
  return text.length > KEY_LENGTH ? `${plain}…` : plain;
}
