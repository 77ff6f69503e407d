import { closeSync, constants, fstatSync, ftruncateSync, openSync, renameSync, writeSync } from "node:fs";
import { join } from "node:path";
import { letterOf, streamOf, type StreamLetter } from "../../domain/deployments/output_stream.ts";
import type { OutputLine, OutputQuery } from "../../ports/services/runtime.ts";
import { readBlock } from "./raw_output.ts";
import { ifExists } from "../shared/error_code.ts";

/** The offset up to which each stream was converted to lines, and the last line number. */
export interface Progress {
  readonly stdout: number;
  readonly stderr: number;
  readonly seq: number;
}

export const NO_PROGRESS: Progress = { stdout: 0, stderr: 0, seq: 0 };
const MAX_BYTES = 8 * 1024 * 1024;
const BLOCK = 256 * 1024;

type Row = readonly [seq: number, at: number, stream: StreamLetter, message: string];

/** Stores the lines of an instance in two rotating files: when the newer is full, it replaces the older. */
export class OutputStore {
  readonly #file: string;
  readonly #maxBytes: number;

  constructor(folder: string, maxBytes = MAX_BYTES) {
    this.#file = join(folder, "lines");
    this.#maxBytes = maxBytes;
  }

  /** Appends lines together with the new progress, atomically: after a crash both are stored or neither is. */
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

  /** Returns the progress of the last complete append, and truncates what a killed process wrote after it. */
  recover(): Progress {
    return lastProgress(this.#file, true) ?? lastProgress(`${this.#file}.old`, false) ?? NO_PROGRESS;
  }

  /** Returns the progress of the last complete append, while another process may be appending. */
  progress(): Progress {
    return lastProgress(this.#file, false) ?? lastProgress(`${this.#file}.old`, false) ?? NO_PROGRESS;
  }

  /**
   * Reads the requested lines, oldest first, and stops after the line that reaches `maxCharacters`. Where some of the
   * requested lines were dropped, a note in their place gives their number.
   */
  read({ since, limit, from = new Date(0) }: OutputQuery, maxCharacters = Infinity): OutputLine[] {
    const earliest = from.getTime();
    const isBefore = ([seq, at]: Row) => seq <= since || at < earliest;
    // Opens the newer file first: if it is rotated meanwhile, both paths open the same file, and no line is missed.
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

/** Returns whether a row precedes the requested range. */
type IsBefore = (row: Row) => boolean;

interface ReadPage {
  readonly lines: OutputLine[];
  readonly limit: number;
  /** How many more characters may be read. */
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

/** The note about dropped lines after `since`, with the number of the last one and a time 1 ms before the next line. */
function noteOfDropped({ lines: [first] }: ReadPage, file: number | undefined, since: number): OutputLine | undefined {
  if (!first || file === undefined || first.seq <= since + 1) return undefined;
  const oldest = firstRow(file, 0)?.row;
  if (oldest?.[0] !== first.seq) return undefined;
  const count = first.seq - 1 - Math.max(0, since);
  const message = `[${count} ${count === 1 ? "line" : "lines"} of output left out: only the newest are kept]`;
  return { seq: first.seq - 1, at: new Date(first.at.getTime() - 1), stream: "slipway", message };
}

/** Binary search: returns the start of a line that precedes all requested lines and is close to the first of them. */
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
  return ifExists(() => openSync(path, flags));
}

function writeWhole(descriptor: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length;) at += writeSync(descriptor, bytes, at);
}
