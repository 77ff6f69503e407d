import { loggedError } from "../../domain/logged_error.ts";
import type { OutboxEntry } from "../../ports/githost/outbox.ts";
import { type OutboxWork, OutboxWorker } from "./outbox_worker.ts";

const LEAST_PAUSE_MS = 250;
const RETRY_MS = 2_000;

/**
 * Reports the entries of an outbox for as long as the server runs. Sleeps until something is due, without a statement
 * meanwhile.
 */
export function watchOutbox<Entry extends OutboxEntry>(work: OutboxWork<Entry>) {
  const worker = new OutboxWorker(work);
  /** Runs until the signal aborts. Never rejects. */
  return async function (signal: AbortSignal): Promise<void> {
    let woken = Promise.withResolvers<void>();
    const wake = () => woken.resolve();
    const forget = work.outbox.onDue(wake);
    signal.addEventListener("abort", wake, { once: true });
    while (!signal.aborted) {
      // Renewed before the outbox is read, so that no wake-up is missed.
      woken = Promise.withResolvers();
      const nextMs = await worker.begin(signal, wake).catch(later);
      if (signal.aborted) break;
      const pauseMs = Math.max(nextMs ?? 0, LEAST_PAUSE_MS);
      const timer = nextMs === null ? undefined : setTimeout(wake, pauseMs);
      await woken.promise;
      clearTimeout(timer);
    }
    forget();
    await worker.settled();
  };

  function later(error: unknown): number {
    const message = "What is to be reported to the git host could not be read and will be later";
    work.log.write("warn", message, { ...loggedError(error) });
    return RETRY_MS;
  }
}
