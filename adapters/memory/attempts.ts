import type { AttemptLimit, Attempts } from "../../ports/attempts.ts";
import type { MemoryTables } from "./memory_tables.ts";

/** Counts attempts in memory, in windows that begin with their first attempt. */
export class MemoryAttempts implements Attempts {
  readonly #tables: MemoryTables;

  constructor(tables: MemoryTables) {
    this.#tables = tables;
  }

  async take(key: string, { limit, windowMs }: AttemptLimit, at: Date): Promise<number> {
    const window = this.#window(key, at) ?? { count: 0, endsAt: new Date(at.getTime() + windowMs) };
    if (window.count >= limit) return Math.max(1, Math.ceil((window.endsAt.getTime() - at.getTime()) / 1_000));
    this.#tables.attempts.set(key, { ...window, count: window.count + 1 });
    return 0;
  }

  async giveBack(key: string, _limit: AttemptLimit, at: Date): Promise<void> {
    const window = this.#window(key, at);
    if (window) this.#tables.attempts.set(key, { ...window, count: Math.max(0, window.count - 1) });
  }

  async sweep(before: Date): Promise<number> {
    const ended = [...this.#tables.attempts].filter(([, { endsAt }]) => endsAt < before);
    for (const [key] of ended) this.#tables.attempts.delete(key);
    return ended.length;
  }

  #window(key: string, at: Date): { readonly count: number; readonly endsAt: Date } | undefined {
    const window = this.#tables.attempts.get(key);
    return window && window.endsAt > at ? window : undefined;
  }
}
