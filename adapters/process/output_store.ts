import { closeSync, constants, fstatSync, ftruncateSync, openSync, renameSync, writeSync } from "node:fs";
import { join } from "node:path";
import { letterOf, streamOf, type StreamLetter } from "../../domain/deployments/output_stream.ts";
import type { OutputLine, OutputQuery } from "../../ports/services/runtime.ts";
import { readBlock } from "./raw_output.ts";

/** How far each stream has been turned into lines, and the last number given. */
export interface Progress {
  readonly stdout: number;
  readonly stderr: number;
  readonly seq: number;
}

export const NO_PROGRESS: Progress = { stdout: 0, stderr: 0, seq: 0 };
const MAX_BYTES = 8 * 1024 * 1024;
const BLOCK = 256 * 1024;

type Row = readonly [seq: number, at: number, stream: StreamLetter, message: string];

/** Keeps the lines of an instance in two files, the older of which is dropped when the newer is full. */
export class OutputStore {
  readonly #file: string;
  readonly #maxBytes: number;

  constructor(folder: string, maxBytes = MAX_BYTES) {
    this.#file = join(folder, "lines");
    this.#maxBytes = maxBytes;
  }

  /** Adds lines together with how far they bring us: after a crash both are there, or neither is. */
  append(lines: readonly OutputLine[], progress: Progress): void {
    const rows = lines.map(({ seq, at, stream, message }): Row => [seq, at.getTime(), letterOf(stream), message]);
    const text = [...rows, progress].map((row) => `${JSON.stringify(row)}\n`).join("");
    let descriptor = openSync(this.#file, "a", 0o600);
    try {
      if (fstatSync(descriptor).size > this.#maxBytes) {
        closeSync(descriptor);
        renameSync(this.#file, `${this.#file}.old`);
        descriptor = openSync(this.#file, "a", 0o600);
      }
      writeWhole(descriptor, text);
    } finally {
      closeSync(descriptor);
    }
  }

  /** How far the last complete addition came; what a killed process wrote after it is cut off. */
  recover(): Progress {
    return lastProgress(this.#file, true) ?? lastProgress(`${this.#file}.old`, false) ?? NO_PROGRESS;
  }

  /** How far the last complete addition came, while another process may be adding. */
  progress(): Progress {
    return lastProgress(this.#file, false) ?? lastProgress(`${this.#file}.old`, false) ?? NO_PROGRESS;
  }

  /**
   * The lines that are wanted, oldest first, up to one with which they have so many characters. Where some of these
   * were dropped, a note in their place says how many.
   */
  read({ since, limit, from = new Date(0) }: OutputQuery, maxCharacters = Infinity): OutputLine[] {
    const earliest = from.getTime();
    const isBefore = ([seq, at]: Row) => seq <= since || at < earliest;
    // The newer first: when it becomes the older one meanwhile, both names lead to the same file, and nothing is missed.
    const newer = opened(this.#file);
    const older = opened(`${this.#file}.old`);
    try {
      const same = newer !== undefined && older !== undefined && fstatSync(newer).ino === fstatSync(older).ino;
      const files = [same ? undefined : older, newer].filter((file) => file !== undefined);
      const page: ReadPage = { lines: [], limit, characters: maxCharacters };
      for (const file of files) readInto(page, file, isBefore);
      const note = noteOfDropped(page, files[0], since);
      return note && note.at >= from ? [note, ...page.lines].slice(0, limit) : page.lines;
    } finally {
      for (const file of [newer, older]) if (file !== undefined) closeSync(file);
    }
  }
}

/** Tells of a row whether it comes before what is wanted. */
type IsBefore = (row: Row) => boolean;

interface ReadPage {
  readonly lines: OutputLine[];
  readonly limit: number;
  /** How many more may be read. */
  characters: number;
}

function readInto(page: ReadPage, file: number, isBefore: IsBefore): void {
  for (const { text } of linesFrom(file, startFor(file, isBefore))) {
    if (page.lines.length >= page.limit || page.characters <= 0) return;
    const row = parsed(text);
    if (!isRow(row) || isBefore(row)) continue;
    const [seq, at, stream, message] = row;
    page.characters -= message.length;
    page.lines.push({ seq, at: new Date(at), stream: streamOf(stream), message });
  }
}

/** The note about dropped lines after `since`: in the place of the last one, a millisecond before the next line. */
function noteOfDropped({ lines: [first] }: ReadPage, file: number | undefined, since: number): OutputLine | undefined {
  if (!first || file === undefined || first.seq <= since + 1) return undefined;
  const oldest = firstRow(file, 0)?.row;
  if (oldest?.[0] !== first.seq) return undefined;
  const count = first.seq - 1 - Math.max(0, since);
  const message = `[${count} ${count === 1 ? "line" : "lines"} of output left out: only the newest are kept]`;
  return { seq: first.seq - 1, at: new Date(first.at.getTime() - 1), stream: "slipway", message };
}

/** The beginning of a line before which no line is wanted, and not far from the first that is, found by halving. */
function startFor(file: number, isBefore: IsBefore): number {
  let [low, high] = [0, fstatSync(file).size];
  while (high - low > BLOCK) {
    const middle = Math.floor((low + high) / 2);
    const first = firstRow(file, middle);
    if (first !== undefined && first.start < high && isBefore(first.row)) low = first.start;
    else high = middle;
  }
  return low;
}

function firstRow(file: number, from: number): { row: Row; start: number } | undefined {
  let partial = from > 0;
  for (const { text, start } of linesFrom(file, from)) {
    const row = partial ? undefined : parsed(text);
    partial = false;
    if (isRow(row)) return { row, start };
  }
  return undefined;
}

function isRow(parsedLine: unknown): parsedLine is Row {
  return Array.isArray(parsedLine);
}

function* linesFrom(file: number, from: number): Generator<{ text: string; start: number }> {
  let start = from;
  let rest = Buffer.alloc(0);
  for (let at = from; ;) {
    const block = readBlock(file, at, BLOCK);
    if (block.length === 0) return;
    at += block.length;
    rest = Buffer.concat([rest, block]);
    let begin = 0;
    for (let end = rest.indexOf(10); end !== -1; end = rest.indexOf(10, begin)) {
      yield { text: rest.toString("utf8", begin, end), start };
      start += end + 1 - begin;
      begin = end + 1;
    }
    rest = rest.subarray(begin);
  }
}

function lastProgress(path: string, repair: boolean): Progress | undefined {
  const file = opened(path, repair ? constants.O_RDWR : constants.O_RDONLY);
  if (file === undefined) return undefined;
  try {
    const { size } = fstatSync(file);
    for (let from = size; from > 0;) {
      from = Math.max(0, from - 4 * BLOCK);
      let found: { progress: Progress; end: number } | undefined;
      let partial = from > 0;
      for (const { text, start } of linesFrom(file, from)) {
        const row = partial ? undefined : parsed(text);
        partial = false;
        if (row && !Array.isArray(row)) found = { progress: row as Progress, end: start + Buffer.byteLength(text) + 1 };
      }
      if (!found) continue;
      if (repair && found.end < size) ftruncateSync(file, found.end);
      return found.progress;
    }
    if (repair) ftruncateSync(file, 0);
    return undefined;
  } finally {
    closeSync(file);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function opened(path: string, flags = constants.O_RDONLY): number | undefined {
  try {
    return openSync(path, flags);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

function writeWhole(descriptor: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length;) at += writeSync(descriptor, bytes, at);
}
