/** How many bytes of output are recorded per service of a release. */
export const RECORDED_BYTES = 10_000_000;

/** Approximate size of a line's sequence number and timestamp. */
const LINE_BYTES = 24;

/** The output that was dropped before the kept part: its size, with the sequence number and time of its last line. */
export interface LeftOut {
  readonly lines: number;
  readonly bytes: number;
  readonly seq: number;
  readonly at: Date;
}

/** One or more lines: their size, with the sequence number and time of the last. */
export type OutputPart = LeftOut;

/** Returns the recorded size of a line. */
export function lineBytes(message: string): number {
  return Buffer.byteLength(message) + LINE_BYTES;
}

/** Returns the note that replaces the dropped lines. */
export function leftOutLine({ lines, bytes, seq, at }: LeftOut) {
  const message = `[${lines} lines of output left out (${sizeText(bytes)}): the last ${sizeText(RECORDED_BYTES)} are kept]`;
  return { seq, at, stream: "slipway" as const, message };
}

function sizeText(bytes: number): string {
  return bytes < 1_000_000 ? `${Math.ceil(bytes / 1_000)} kB` : `${Number((bytes / 1_000_000).toFixed(1))} MB`;
}

/** Adds up two dropped parts, the second after the first. */
export function leftOutTogether(first: LeftOut | null, second: LeftOut | null): LeftOut | null {
  if (!second) return first;
  const { lines, bytes, seq, at } = second;
  return { lines: (first?.lines ?? 0) + lines, bytes: (first?.bytes ?? 0) + bytes, seq, at };
}

/** Keeps the last parts added, up to a size limit, and counts what it drops. */
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

  /** The kept parts, oldest first. */
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
    // Compacts the array only once more than half of it is dropped, so that adding stays cheap.
    if (this.#first <= this.#parts.length / 2) return;
    this.#parts = this.parts.slice();
    this.#first = 0;
  }
}
