import type { PostgresSignals } from "./signals.ts";

const MAX_ENTRIES = 10_000;
const ALL = "*";

/**
 * Caches what was read by its id, only while this process is notified of every change. Evicts an entry at once when it
 * changes, and all entries when a notification may have been missed.
 */
export class SignalledCache<T> {
  readonly #signals: Pick<PostgresSignals, "live">;
  readonly #max: number;
  /** Oldest first. */
  readonly #entries = new Map<string, { readonly value: T }>();
  /** Counts invalidations, so that the result of a read that began before one is not cached. */
  #generation = 0;

  /** The channel tells ids, or `*` for all of them. */
  constructor(
    signals: Pick<PostgresSignals, "live" | "onReset" | "subscribe">,
    channel: string,
    { max = MAX_ENTRIES }: { readonly max?: number } = {},
  ) {
    this.#signals = signals;
    this.#max = max;
    signals.subscribe(channel, (id) => this.#evict(id));
    signals.onReset(() => this.#evict(ALL));
  }

  /** Returns what is cached, or else reads it. */
  async get(id: string, read: () => Promise<T>): Promise<T> {
    const known = this.#signals.live ? this.#entries.get(id) : undefined;
    if (known) return known.value;
    const generation = this.#generation;
    const value = await read();
    if (generation !== this.#generation || !this.#signals.live) return value;
    const [oldest] = this.#entries.size < this.#max ? [] : this.#entries.keys();
    if (oldest !== undefined) this.#entries.delete(oldest);
    this.#entries.set(id, { value });
    return value;
  }

  #evict(id: string): void {
    this.#generation++;
    if (id === ALL) this.#entries.clear();
    else this.#entries.delete(id);
  }
}
