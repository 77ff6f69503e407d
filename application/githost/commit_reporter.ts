import { loggedError } from "../../domain/logged_error.ts";
import type { CommitReport } from "../../ports/githost/commit_reports.ts";
import { REPORT_MS, reportCommit, type ReportCommitPorts } from "./report_commit.ts";

const AT_ONCE = 4;
const LEASE_MS = REPORT_MS + 10_000;

/** Reports statuses of deployments to commits, a few at a time, so that a slow one does not hold up the others. */
export class CommitReporter {
  readonly #ports: ReportCommitPorts;
  readonly #report: ReturnType<typeof reportCommit>;
  readonly #running = new Set<Promise<void>>();

  constructor(ports: ReportCommitPorts) {
    this.#ports = ports;
    this.#report = reportCommit(ports);
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
    while (this.#running.size < AT_ONCE) {
      const taken = signal.aborted ? undefined : await this.#ports.commitReports.take(LEASE_MS);
      if (!taken) return await this.#ports.commitReports.nextDueMs();
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
  async #carryOut(report: CommitReport, signal: AbortSignal): Promise<void> {
    try {
      await this.#report(report, signal);
    } catch (error) {
      const about = { deploymentId: report.deploymentId, ...loggedError(error) };
      this.#ports.log.write("warn", "The outcome of a report to a commit could not be stored", about);
    }
  }
}
