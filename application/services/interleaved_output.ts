import type { OutputLine, OutputQuery } from "../../ports/services/runtime.ts";

/** An output line with the service that printed it; its number is unique among all services. */
export interface ServiceLine extends OutputLine {
  readonly service: string;
}

interface Wanted {
  readonly since: number;
  readonly limit: number;
}

/** A source of output lines of a service, in order of time; `read` is `null` for a source without output. */
export interface OutputSource {
  readonly service: string;
  readonly read: ((wanted: OutputQuery) => Promise<readonly OutputLine[]>) | null;
}

/** Numbers stay exact (safe integers) until 2065. */
const EPOCH = Date.UTC(2025, 0, 1);
const NUMBERS_A_MS = 7_000;
/** How far before the requested lines to start reading, so that they get the same numbers as before. */
const LEAD_MS = 1_000;
const PAGE = 1_000;
const PAGE_CHARACTERS = 8 * 1024 * 1024;

/**
 * Merges the output of all services of a deployment after number `since`, in order of time: at most `limit` lines, and
 * a few megabytes. A line's number is derived from its timestamp and the index of its source, or else is the next free
 * one after the previous line of its source. So a line keeps its number whatever other services print, a cursor can be
 * found again by time, and numbers have gaps.
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
  /** The index of this source, among `of` sources. */
  readonly place: number;
  readonly of: number;
}

/** The lines of one source, numbered among those of all sources, page by page. */
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
    // A multiple of the number of sources, so that no two sources ever produce the same number.
    this.#perMs = Math.floor(NUMBERS_A_MS / source.of) * source.of;
    this.#last = source.place + 1 - source.of;
  }

  /** The next line; `undefined` when there is none. */
  get first(): ServiceLine | undefined {
    return this.#lines[this.#taken];
  }

  take(): ServiceLine {
    return this.#lines[this.#taken++]!;
  }

  /** Reads the next page when the current one is used up. */
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
