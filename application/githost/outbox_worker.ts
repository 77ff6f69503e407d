import { Failure } from "../../domain/failure.ts";
import { loggedError } from "../../domain/logged_error.ts";
import type { Outbox, OutboxEntry } from "../../ports/githost/outbox.ts";
import type { Log } from "../../ports/system/log.ts";

/** How the entries of an outbox are reported to the git host. */
export interface OutboxWork<Entry extends OutboxEntry> {
  readonly outbox: Outbox<Entry>;
  readonly log: Log;
  /** Reports an entry, or finds that it needs no report. Returns the entry as it is to be finished. */
  report(entry: Entry, signal: AbortSignal): Promise<Entry>;
  /** What an entry is about, for the log. */
  about(entry: Entry): Readonly<Record<string, unknown>>;
  /** The log line about an entry that is given up. */
  readonly givenUp: string;
}

const AT_ONCE = 4;
/** A report may take this long; less than its lease, so that no other process begins meanwhile. */
const REPORT_MS = 35_000;
const LEASE_MS = REPORT_MS + 10_000;
/** Pauses after failures. After the last one, the report is given up. */
const RETRY_DELAYS_MS = [5_000, 30_000, 120_000, 600_000, 1_800_000] as const;
const LONGEST_DELAY_MS = 3_600_000;

/**
 * Reports what is due in an outbox, a few entries at a time, so that a slow one does not hold up the others. While the git
 * host fails, each is tried again a few times.
 */
export class OutboxWorker<Entry extends OutboxEntry> {
  readonly #work: OutboxWork<Entry>;
  readonly #running = new Set<Promise<void>>();

  constructor(work: OutboxWork<Entry>) {
    this.#work = work;
  }

  /** Whether reports are under way. */
  get isBusy(): boolean {
    return this.#running.size > 0;
  }

  /**
   * Begins to report what is due, and calls `ended` after each report. Returns the milliseconds until more is due; `null`
   * if nothing is left, or nothing more can begin before another report has ended.
   */
  async begin(signal: AbortSignal, ended: () => void = () => {}): Promise<number | null> {
    const { outbox } = this.#work;
    while (this.#running.size < AT_ONCE) {
      const taken = signal.aborted ? undefined : await outbox.take(LEASE_MS);
      if (!taken) return await outbox.nextDueMs();
      const running = this.#carryOut(taken, signal).then(() => {
        this.#running.delete(running);
        ended();
      });
      this.#running.add(running);
    }
    return null;
  }

  /** Resolves once the reports that are under way have ended. */
  async settled(): Promise<void> {
    await Promise.all(this.#running);
  }

  /** Never rejects: what could not be stored can be taken again once the lease has expired. */
  async #carryOut(entry: Entry, signal: AbortSignal): Promise<void> {
    const { about, log, outbox } = this.#work;
    try {
      const reported = await this.#attempt(entry, signal);
      if (reported) await outbox.finish(reported);
    } catch (error) {
      const message = "The outcome of a report to the git host could not be stored";
      log.write("warn", message, { ...about(entry), ...loggedError(error) });
    }
  }

  /** Returns the entry to finish; `undefined` if it has to be tried again. */
  async #attempt(entry: Entry, signal: AbortSignal): Promise<Entry | undefined> {
    const { about, givenUp, log, outbox } = this.#work;
    const { failures } = entry;
    try {
      return await this.#work.report(entry, AbortSignal.any([signal, AbortSignal.timeout(REPORT_MS)]));
    } catch (error) {
      const delay = RETRY_DELAYS_MS[failures];
      if (signal.aborted) await outbox.retry(entry, { afterMs: 0, failures });
      else if (delay !== undefined) {
        const wanted = error instanceof Failure ? (error.retryAfter ?? 0) * 1_000 : 0;
        const afterMs = Math.min(Math.max(delay, wanted), LONGEST_DELAY_MS);
        await outbox.retry(entry, { afterMs, failures: failures + 1 });
      } else {
        log.write("warn", givenUp, { ...about(entry), ...loggedError(error) });
        return entry;
      }
      return undefined;
    }
  }
}
