import type { OutputLine, OutputQuery } from "../../ports/services/runtime.ts";

/** A line with the service that printed it; its number is one among those of all services. */
export interface ServiceLine extends OutputLine {
  readonly service: string;
}

interface Wanted {
  readonly since: number;
  readonly limit: number;
}

/** Where lines of a service come from, in the order of time; some print nothing. */
export interface OutputSource {
  readonly service: string;
  readonly read: ((wanted: OutputQuery) => Promise<readonly OutputLine[]>) | null;
}

/** Numbers stay exact until 2065. */
const EPOCH = Date.UTC(2025, 0, 1);
const NUMBERS_A_MS = 7_000;
/** How far before the wanted lines to begin, so that they get the numbers they had. */
const LEAD_MS = 1_000;
const PAGE = 1_000;
const PAGE_CHARACTERS = 8 * 1024 * 1024;

/**
 * Reads what all services of a deployment printed after number `since`, in the order of time, at most `limit` lines and no more than some megabytes. A line's number
 * is the time it was printed at and the place of its source among all, or the next such one after the last of its source. So it keeps its number whatever others
 * print, whoever asks finds the place again by time, and there are gaps.
 */
export async function interleavedOutput(
  all: readonly OutputSource[],
  { since, limit }: Wanted,
): Promise<readonly ServiceLine[]> {
  const sources = all.flatMap(({ read, service }, place) =>
    read === null ? [] : [new NumberedSource({ read, service, place, of: all.length }, since)],
  );
  const found: ServiceLine[] = [];
  await Promise.all(sources.map((source) => source.fill()));
  for (let characters = 0; found.length < limit && characters < PAGE_CHARACTERS;) {
    const [next] = sources.filter(({ first }) => first !== undefined).sort((a, b) => a.first!.seq - b.first!.seq);
    if (!next) break;
    const line = next.take();
    found.push(line);
    characters += line.message.length;
    if (found.length < limit) await next.fill();
  }
  return found;
}

interface PlacedSource {
  readonly read: NonNullable<OutputSource["read"]>;
  readonly service: string;
  /** Its place among so many sources. */
  readonly place: number;
  readonly of: number;
}

/** The lines of one source, numbered among those of all, some at a time. */
class NumberedSource {
  readonly #source: PlacedSource;
  readonly #since: number;
  readonly #perMs: number;
  #lines: ServiceLine[] = [];
  #taken = 0;
  #read = 0;
  #last: number;
  #ended = false;

  constructor(source: PlacedSource, since: number) {
    this.#source = source;
    this.#since = since;
    // A multiple of how many there are, so that no two sources ever give the same number.
    this.#perMs = Math.floor(NUMBERS_A_MS / source.of) * source.of;
    this.#last = source.place + 1 - source.of;
  }

  /** The line that comes next; `undefined` when there is none. */
  get first(): ServiceLine | undefined {
    return this.#lines[this.#taken];
  }

  take(): ServiceLine {
    return this.#lines[this.#taken++]!;
  }

  /** Reads on where nothing is left. */
  async fill(): Promise<void> {
    while (this.first === undefined && !this.#ended) {
      const page = await this.#source.read(this.#wanted());
      this.#ended = page.length === 0;
      this.#read = page.at(-1)?.seq ?? this.#read;
      this.#lines = page.map((line) => this.#numbered(line)).filter(({ seq }) => seq > this.#since);
      this.#taken = 0;
    }
  }

  #wanted(): OutputQuery {
    const wanted = { since: this.#read, limit: PAGE };
    if (this.#since <= 0) return wanted;
    return { ...wanted, from: new Date(EPOCH + Math.floor((this.#since - 1) / this.#perMs) - LEAD_MS) };
  }

  #numbered(line: OutputLine): ServiceLine {
    const { of, place, service } = this.#source;
    const first = (line.at.getTime() - EPOCH) * this.#perMs + place + 1;
    this.#last = Math.max(this.#last + of, first);
    return { ...line, seq: this.#last, service };
  }
}
