/** How much of what each service of a release printed is recorded. */
export const RECORDED_BYTES = 10_000_000;

/** What the number and the time of a line take, about. */
const LINE_BYTES = 24;

/** What was printed before that which is kept: how much, with the number and the time of its last line. */
export interface LeftOut {
  readonly lines: number;
  readonly bytes: number;
  readonly seq: number;
  readonly at: Date;
}

/** One line, or several together: how much that is, with the number and the time of the last. */
export type OutputPart = LeftOut;

/** How much room a line takes. */
export function lineBytes(message: string): number {
  return Buffer.byteLength(message) + LINE_BYTES;
}

/** The note that stands in the place of the lines that were left out. */
export function leftOutLine({ lines, bytes, seq, at }: LeftOut) {
  const message = `[${lines} lines of output left out (${sizeText(bytes)}): the last ${sizeText(RECORDED_BYTES)} are kept]`;
  return { seq, at, stream: "slipway" as const, message };
}

function sizeText(bytes: number): string {
  return bytes < 1_000_000 ? `${Math.ceil(bytes / 1_000)} kB` : `${Number((bytes / 1_000_000).toFixed(1))} MB`;
}

/** What was left out in two places, the second after the first. */
export function leftOutTogether(first: LeftOut | null, second: LeftOut | null): LeftOut | null {
  if (!second) return first;
  const { lines, bytes, seq, at } = second;
  return { lines: (first?.lines ?? 0) + lines, bytes: (first?.bytes ?? 0) + bytes, seq, at };
}

/** Keeps the last of what is added, within a bound, and counts what it leaves out. */
export class OutputTail<Part extends OutputPart> {
  readonly #maxBytes: number;
  #parts: Part[] = [];
  #first = 0;
  #bytes = 0;
  #leftOut: LeftOut | null;

  constructor(maxBytes: number, leftOut: LeftOut | null = null) {
    this.#maxBytes = maxBytes;
    this.#leftOut = leftOut;
  }

  /** What is kept, oldest first. */
  get parts(): readonly Part[] {
    return this.#parts.slice(this.#first);
  }

  get leftOut(): LeftOut | null {
    return this.#leftOut;
  }

  add(part: Part): void {
    this.#parts.push(part);
    this.#bytes += part.bytes;
    this.#shrink();
  }

  #shrink(): void {
    while (this.#bytes > this.#maxBytes) {
      const part = this.#parts[this.#first++]!;
      this.#bytes -= part.bytes;
      this.#leftOut = leftOutTogether(this.#leftOut, part);
    }
    // The places of what was dropped are given back from time to time, not each time.
    if (this.#first <= this.#parts.length / 2) return;
    this.#parts = this.parts.slice();
    this.#first = 0;
  }
}
