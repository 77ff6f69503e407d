import type { AttemptLimit, Attempts } from "../../ports/identity/attempts.ts";
import type { MemoryTables } from "./memory_tables.ts";

/** Counts attempts (rate limits) in memory, in windows that begin with their first attempt. */
export class MemoryAttempts implements Attempts {
  readonly #tables: MemoryTables;

  constructor(tables: MemoryTables) {
    this.#tables = tables;
  }

  async take(key: string, { limit, windowMs }: AttemptLimit): Promise<number> {
    const now = this.#now();
    const window = this.#window(key) ?? { count: 0, endsAt: new Date(now + windowMs) };
    if (window.count >= limit) return Math.max(1, Math.ceil((window.endsAt.getTime() - now) / 1_000));
    this.#tables.attempts.set(key, { ...window, count: window.count + 1 });
    return 0;
  }

  async giveBack(key: string): Promise<void> {
    const window = this.#window(key);
    if (window) this.#tables.attempts.set(key, { ...window, count: Math.max(0, window.count - 1) });
  }

  async sweep(endedMs: number): Promise<number> {
    const before = this.#now() - endedMs;
    const ended = [...this.#tables.attempts].filter(([, { endsAt }]) => endsAt.getTime() < before);
    for (const [key] of ended) this.#tables.attempts.delete(key);
    return ended.length;
  }

  #now(): number {
    return this.#tables.clock.now().getTime();
  }

  #window(key: string): { readonly count: number; readonly endsAt: Date } | undefined {
    const window = this.#tables.attempts.get(key);
    return window && window.endsAt.getTime() > this.#now() ? window : undefined;
  }
}
