import { dlopen } from "bun:ffi";
import { closeSync, fstatSync, openSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import { LineSplitter } from "../../domain/deployments/line_splitter.ts";
import { ifExists } from "../shared/error_code.ts";

const KEEP_SIZE_PUNCH_HOLE = 3;
const BLOCK = 1024 * 1024;
const LONG_LINE = 64 * 1024;
const PAGE = 65_536;
const QUIET_MS = 2_000;
const MOST_WAITING = 64 * BLOCK;
const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

const library = process.platform === "darwin" ? undefined : "libc.so.6";
const libc = library && dlopen(library, { fallocate: { args: ["i32", "i32", "i64", "i64"], returns: "i32" } });

/** Lines read from a raw file, and the offset of their end. */
export interface TakenLines {
  readonly lines: readonly string[];
  readonly end: number;
  /** Whether the line is not output but a note about omitted output. */
  readonly isNote?: boolean;
}

/** The file a program writes one of its streams to. Read once, front to back; disk space of the part read is freed. */
export class RawOutput {
  readonly #file: string;
  #freed = 0;

  constructor(folder: string, stream: "stdout" | "stderr") {
    this.#file = join(folder, stream);
  }

  /** The number of bytes written. */
  get size(): number {
    return statSync(this.#file, { throwIfNoEntry: false })?.size ?? 0;
  }

  /**
   * Returns the next lines after the offset `from`. An unfinished line waits for its end, until it is long, the program
   * has been quiet for a while, or no more output will come (`last`).
   */
  take(from: number, { last }: { readonly last: boolean }): TakenLines {
    // Fast path: this is called often, and mostly there is nothing new.
    if (statSync(this.#file, { throwIfNoEntry: false })?.size === from) return { lines: [], end: from };
    const file = opened(this.#file, "r");
    if (file === undefined) return { lines: [], end: from };
    try {
      const { size, mtimeMs } = fstatSync(file);
      // The program may have truncated its own output.
      const start = size < from ? 0 : from;
      if (size === start) return { lines: [], end: start };
      if (size - start > MOST_WAITING) return leftOut(start, size - (size % PAGE));
      const block = readBlock(file, start, BLOCK);
      const whole = last || Date.now() - mtimeMs > QUIET_MS;
      const taken = block.subarray(0, whole && block.length < BLOCK ? block.length : usable(block));
      const splitter = new LineSplitter();
      return { lines: [...splitter.push(taken), ...splitter.flush()], end: start + taken.length };
    } finally {
      closeSync(file);
    }
  }

  /**
   * Frees the disk space before `end`, once its lines are stored elsewhere. The program keeps writing at its offset.
   */
  free(end: number): void {
    const upTo = end - (end % PAGE);
    if (upTo - this.#freed < BLOCK || !libc) return;
    const file = opened(this.#file, "r+");
    if (file === undefined) return;
    libc.symbols.fallocate(file, KEEP_SIZE_PUNCH_HOLE, 0n, BigInt(upTo));
    closeSync(file);
    this.#freed = upTo;
  }
}

/**
 * Skips excess output: a program may print faster than it can be stored, so the backlog is bounded and a note reports
 * the gap.
 */
function leftOut(start: number, end: number): TakenLines {
  return { lines: [`[${end - start} bytes of output left out: too much at once]`], end, isNote: true };
}

/** Reads at most `length` bytes of a file. */
export function readBlock(file: number, from: number, length: number): Buffer {
  const buffer = Buffer.allocUnsafe(length);
  return buffer.subarray(0, readSync(file, buffer, 0, length, from));
}

/**
 * Returns the length of the prefix that ends with a line, or of a piece of a long line that splits no UTF-8 character.
 */
function usable(block: Buffer): number {
  const fed = block.lastIndexOf(LINE_FEED);
  if (fed !== -1) return fed + 1;
  // A carriage return at the very end may be followed by a line feed.
  const returned = block.subarray(0, -1).lastIndexOf(CARRIAGE_RETURN);
  if (returned !== -1) return returned + 1;
  if (block.length < LONG_LINE) return 0;
  let end = block.length;
  for (let back = 1; back <= 3; back++) {
    const byte = block[block.length - back]!;
    if (byte < 0x80) break;
    if (byte >= 0xc0) end = block.length - back;
    if (byte >= 0xc0) break;
  }
  return end;
}

function opened(path: string, flags: "r" | "r+"): number | undefined {
  return ifExists(() => openSync(path, flags));
}
