import type { ComposeNode, Place } from "./compose_node.ts";
import { TooMuchEffort } from "./effort.ts";

const MAX_NOTES = 200;
/** Parsing aborts after this many problems: the first ones are enough for the user to start with. */
const MOST_PROBLEMS = 400;
const SHOWN = 60;
/** Maximum length of a message; names in it may be as long as a file. */
const LONGEST = 1_000;

/** A problem and its position. */
export interface ComposeProblem {
  readonly file: string;
  readonly line: number;
  /** A sentence for the user, without the value of any variable. */
  readonly message: string;
}

/** Collects the problems and warnings found while a compose file is parsed, without duplicates. */
export class Notes {
  readonly #problems = new Map<string, ComposeProblem>();
  readonly #unknownValues = new Set<string>();
  readonly #warnings = new Map<string, ComposeProblem>();
  readonly #unknownLines = new Set<string>();
  readonly #missing = new Set<string>();
  #found = 0;

  problem(at: Place, message: string): void {
    this.#count();
    take(this.#problems, at, message);
  }

  /**
   * Reports a value that cannot be interpolated; hides the other problems of its line, which follow from that. Each
   * missing variable is reported once.
   */
  unknownValue(at: Place, message: string, missing?: string): void {
    this.#count();
    this.#unknownLines.add(lineOf({ file: at.file.name, line: at.line }));
    if (missing !== undefined && this.#missing.has(missing)) return;
    if (missing !== undefined) this.#missing.add(missing);
    this.#unknownValues.add(take(this.#problems, at, message));
  }

  warning(at: Place, message: string): void {
    take(this.#warnings, at, message);
  }

  /** Grouped by file, sorted by line. */
  get problems(): readonly ComposeProblem[] {
    const isCause = (key: string, problem: ComposeProblem) =>
      this.#unknownValues.has(key) || !this.#unknownLines.has(lineOf(problem));
    return inOrder(new Map([...this.#problems].filter(([key, problem]) => isCause(key, problem))));
  }

  get warnings(): readonly string[] {
    return inOrder(this.#warnings).map(({ file, line, message }) => `${file}:${line}: ${message}`);
  }

  #count(): void {
    this.#found += 1;
    if (this.#found > MOST_PROBLEMS) throw new TooMuchEffort("There are too many errors");
  }
}

/** Adds a note unless there are `MAX_NOTES` already; returns its key. */
function take(notes: Map<string, ComposeProblem>, { file, line }: Place, sentence: string): string {
  const message = sentence.length > LONGEST ? `${sentence.slice(0, LONGEST)}…` : sentence;
  const key = `${file.name}:${line}:${message}`;
  if (notes.size < MAX_NOTES) notes.set(key, { file: file.name, line, message });
  return key;
}

function lineOf({ file, line }: Pick<ComposeProblem, "file" | "line">): string {
  return `${file}:${line}`;
}

function inOrder(notes: ReadonlyMap<string, ComposeProblem>): readonly ComposeProblem[] {
  const all = [...notes.values()];
  const files = [...new Set(all.map(({ file }) => file))];
  return all.toSorted((a, b) => files.indexOf(a.file) - files.indexOf(b.file) || a.line - b.line);
}

/** Formats a value for a message: as written before interpolation, shortened and quoted. */
export function shown(node: ComposeNode): string {
  if (node.kind !== "scalar") return `a ${node.kind}`;
  return quoted(node.raw);
}

/** The name of a file in messages: its path inside the source, or the path as written if that contains a variable. */
export function shownPath(node: ComposeNode, path: string): string {
  return node.kind === "scalar" && node.raw !== node.text ? node.raw : path;
}

/** Shortens and quotes a text for a message, and replaces invisible characters. */
export function quoted(text: string): string {
  const plain = text.slice(0, SHOWN).replaceAll(/[\p{Cc}\p{Cs}]/gu, "?");
  return `"${plain}${text.length > SHOWN ? "…" : ""}"`;
}

/** Returns why a value is invalid, or a generic reason if that could show the value of a variable. */
export function wrongOf(node: ComposeNode, wrong: string): string {
  const plain = node.kind !== "scalar" || node.raw === node.text;
  return plain ? wrong : "with its variables inserted it is not what is expected here";
}
