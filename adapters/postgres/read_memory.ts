/** What a read returned, and the version that the rows had. */
export interface KnownRead<T> {
  readonly version: string;
  readonly result: T;
  /** How many rows the result holds. */
  readonly rows: number;
  /** The state of the database's connections when it was read; see `Database.epoch`. */
  readonly epoch: number;
}

/**
 * Remembers the results of reads by their parameters, so that a statement returns only the version of rows that have
 * not changed. Unchanged results are the same objects each time. Forgets the least recently used ones.
 */
export class ReadMemory<T> {
  readonly #maxRows: number;
  /** Least recently used first. */
  readonly #known = new Map<string, KnownRead<T>>();
  readonly #waiting = new Map<string, Promise<unknown>>();
  #rows = 0;

  constructor(maxRows = 2_000) {
    this.#maxRows = maxRows;
  }

  /**
   * Runs a read in the next turn of the event loop. Reads with the same key that were requested until then share its
   * result: it begins after each of them, so it misses no change that one of their callers has seen.
   */
  share<R>(key: string, read: () => Promise<R>): Promise<R> {
    const waiting = this.#waiting.get(key) as Promise<R> | undefined;
    if (waiting) return waiting;
    const turn = Promise.withResolvers<void>();
    setImmediate(turn.resolve);
    const shared = turn.promise.then(() => {
      this.#waiting.delete(key);
      return read();
    });
    this.#waiting.set(key, shared);
    return shared;
  }

  /** Returns what is remembered, unless a connection was lost since: the same versions could mean other rows then. */
  get(key: string, epoch: number): KnownRead<T> | undefined {
    const known = this.#known.get(key);
    if (!known || known.epoch !== epoch) return undefined;
    this.#known.delete(key);
    this.#known.set(key, known);
    return known;
  }

  set(key: string, read: KnownRead<T>): void {
    this.#forget(key);
    this.#known.set(key, read);
    this.#rows += weight(read);
    for (const [oldest] of this.#known) {
      if (this.#rows <= this.#maxRows) return;
      this.#forget(oldest);
    }
  }

  #forget(key: string): void {
    const known = this.#known.get(key);
    if (known) this.#rows -= weight(known);
    this.#known.delete(key);
  }
}

/** An empty result takes room too. */
function weight({ rows }: KnownRead<unknown>): number {
  return rows + 1;
}
