import type { Outbox, OutboxEntry } from "../../ports/githost/outbox.ts";
import type { Clock } from "../../ports/system/clock.ts";
import { copied } from "./copied.ts";

/** An entry with when it is due; `null` while there is nothing to report. */
export interface OutboxRow<Entry> {
  readonly report: Entry;
  readonly dueAt: Date | null;
  readonly leaseUntil: Date | null;
}

/** The rows of an outbox, and how to find and compare them. */
export interface OutboxRows<Entry extends OutboxEntry, Row extends OutboxRow<Entry>> {
  readonly rows: Map<string, Row>;
  readonly handlers: Set<() => void>;
  readonly clock: Clock;
  keyOf(entry: Entry): string;
  /** Whether there is nothing new to report since an entry was taken. */
  isSame(row: Entry, taken: Entry): boolean;
}

/** An outbox in memory. */
export class MemoryOutbox<Entry extends OutboxEntry, Row extends OutboxRow<Entry>> implements Outbox<Entry> {
  readonly #kept: OutboxRows<Entry, Row>;

  constructor(kept: OutboxRows<Entry, Row>) {
    this.#kept = kept;
  }

  async take(leaseMs: number): Promise<Entry | undefined> {
    const now = this.#kept.clock.now().getTime();
    const due = [...this.#kept.rows].filter(([, row]) => freeAt(row) <= now);
    const [oldest] = due.sort(([, a], [, b]) => a.dueAt!.getTime() - b.dueAt!.getTime());
    if (!oldest) return undefined;
    const [key, row] = oldest;
    const report = { ...row.report, attempt: row.report.attempt + 1 };
    this.#kept.rows.set(key, { ...row, report, leaseUntil: this.#after(leaseMs) });
    return copied(report);
  }

  async finish(entry: Entry): Promise<void> {
    const row = this.#kept.rows.get(this.#kept.keyOf(entry));
    if (!row) return;
    const { attempt } = row.report;
    const isHeld = attempt === entry.attempt;
    this.#put(row, {
      report: { ...row.report, attempt: isHeld ? attempt : attempt + 1 },
      dueAt: isHeld && this.#kept.isSame(row.report, entry) ? null : this.#after(0),
      leaseUntil: isHeld ? null : row.leaseUntil,
    });
  }

  async retry(entry: Entry, next: { readonly afterMs: number; readonly failures: number }): Promise<void> {
    const row = this.#kept.rows.get(this.#kept.keyOf(entry));
    if (row?.report.attempt !== entry.attempt) return;
    const failures = this.#kept.isSame(row.report, entry) ? next.failures : 0;
    this.#put(row, { report: { ...row.report, failures }, dueAt: this.#after(next.afterMs), leaseUntil: null });
  }

  async nextDueMs(): Promise<number | null> {
    const first = Math.min(...this.#kept.rows.values().map(freeAt));
    return first === Number.POSITIVE_INFINITY ? null : Math.max(first - this.#kept.clock.now().getTime(), 0);
  }

  onDue(handler: () => void): () => void {
    const own = () => handler();
    this.#kept.handlers.add(own);
    return () => this.#kept.handlers.delete(own);
  }

  #put(row: Row, change: OutboxRow<Entry>): void {
    this.#kept.rows.set(this.#kept.keyOf(row.report), { ...row, ...change });
  }

  #after(ms: number): Date {
    return new Date(this.#kept.clock.now().getTime() + ms);
  }
}

/** Returns when an entry can be taken, in milliseconds; infinity if there is nothing to report. */
function freeAt({ dueAt, leaseUntil }: OutboxRow<unknown>): number {
  return dueAt === null ? Number.POSITIVE_INFINITY : Math.max(dueAt.getTime(), leaseUntil?.getTime() ?? 0);
}
