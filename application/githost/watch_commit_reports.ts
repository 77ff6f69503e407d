import { loggedError } from "../../domain/logged_error.ts";
import { CommitReporter } from "./commit_reporter.ts";
import type { ReportCommitPorts } from "./report_commit.ts";

const LEAST_PAUSE_MS = 250;
const RETRY_MS = 2_000;

/**
 * Reports statuses of deployments to commits for as long as the server runs. Sleeps until something is due, without a
 * statement meanwhile.
 */
export function watchCommitReports(ports: ReportCommitPorts) {
  const reporter = new CommitReporter(ports);
  /** Runs until the signal aborts. Never rejects. */
  return async function (signal: AbortSignal): Promise<void> {
    let woken = Promise.withResolvers<void>();
    const wake = () => woken.resolve();
    const forget = ports.commitReports.onDue(wake);
    signal.addEventListener("abort", wake, { once: true });
    while (!signal.aborted) {
      // Renewed before the outbox is read, so that no wake-up is missed.
      woken = Promise.withResolvers();
      const nextMs = await reporter.begin(signal, wake).catch(later);
      if (signal.aborted) break;
      const pauseMs = Math.max(nextMs ?? 0, LEAST_PAUSE_MS);
      const timer = nextMs === null ? undefined : setTimeout(wake, pauseMs);
      await woken.promise;
      clearTimeout(timer);
    }
    forget();
    await reporter.settled();
  };

  function later(error: unknown): number {
    const message = "Statuses of deployments could not be reported to commits and will be later";
    ports.log.write("warn", message, { ...loggedError(error) });
    return RETRY_MS;
  }
}
