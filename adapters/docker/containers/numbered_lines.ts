import type { OutputStream } from "../../../domain/deployments/output_stream.ts";
import { LineSplitter } from "../../../domain/deployments/line_splitter.ts";
import type { OutputLine } from "../../../ports/services/runtime.ts";
import type { LogFrame } from "./log_frames.ts";

const LINE_FEED = 10;
/** The engine splits lines at this length, so only a part of this length can have a next part. */
const PART_BYTES = 16_384;
const NUMBERS_A_MS = 4_000;
const NANOSECONDS_A_NUMBER = 250;

/**
 * Turns a container's output into numbered lines. A line's number is its time in quarters of a microsecond since the
 * container was created, or the last number plus one if that is larger. So every server gives a line the same number,
 * wherever it starts to read and however many old lines were dropped, and finds its position again by time. In return,
 * numbers have gaps. Lines that share a time (the parts of a long one) shift those right after them a little; a reader
 * that starts a moment earlier gets the same numbers.
 */
export class NumberedLines {
  readonly #origin: number;
  readonly #splitters = { stdout: new LineSplitter(), stderr: new LineSplitter(), slipway: new LineSplitter() };
  /** When the unfinished line of each stream began. */
  readonly #open: Partial<Record<OutputStream, string | undefined>> = {};
  #last = 0;

  constructor(createdAt: Date) {
    this.#origin = createdAt.getTime();
  }

  /** Returns the lines that this frame completes, in order of completion. */
  take({ stream, at, bytes }: LogFrame): OutputLine[] {
    const open = this.#open[stream];
    // A program that ended in the middle of a line leaves it without a continuation.
    const before = open === undefined || open === at ? [] : this.#end(stream, open);
    const goesOn = bytes.length === PART_BYTES && bytes.at(-1) !== LINE_FEED;
    const lines = this.#splitters[stream].push(bytes);
    if (!goesOn) lines.push(...this.#splitters[stream].flush());
    this.#open[stream] = goesOn ? at : undefined;
    return [...before, ...this.#numbered(stream, at, lines)];
  }

  /** Returns the unfinished lines at the end of the output. */
  end(): OutputLine[] {
    return (["stdout", "stderr"] as const).flatMap((stream) => this.#end(stream, this.#open[stream]));
  }

  /** Returns a time no later than the line with this number. */
  timeOf(seq: number): Date {
    return new Date(this.#origin + Math.floor((seq - 1) / NUMBERS_A_MS));
  }

  #end(stream: LogFrame["stream"], open: string | undefined): OutputLine[] {
    this.#open[stream] = undefined;
    return open === undefined ? [] : this.#numbered(stream, open, this.#splitters[stream].flush());
  }

  #numbered(stream: LogFrame["stream"], at: string, messages: readonly string[]): OutputLine[] {
    const time = new Date(`${at.slice(0, 23)}Z`);
    const quarters = Math.floor(Number(at.slice(23, 29)) / NANOSECONDS_A_NUMBER);
    const first = (time.getTime() - this.#origin) * NUMBERS_A_MS + quarters + 1;
    return messages.map((message) => ({
      seq: (this.#last = Math.max(this.#last + 1, first)),
      at: time,
      stream,
      message,
    }));
  }
}
