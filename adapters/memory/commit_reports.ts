import type { CommitReport, CommitReports } from "../../ports/githost/commit_reports.ts";
import { copied } from "./copied.ts";
import { reportKey } from "./enter_commit_report.ts";
import type { MemoryTables, ReportRow } from "./memory_tables.ts";

/** Keeps in memory what has to be reported to commits. */
export class MemoryCommitReports implements CommitReports {
  readonly #tables: MemoryTables;

  constructor(tables: MemoryTables) {
    this.#tables = tables;
  }

  async take(leaseMs: number): Promise<CommitReport | undefined> {
    const now = this.#tables.clock.now().getTime();
    const due = [...this.#tables.commitReports].filter(([, row]) => freeAt(row) <= now);
    const [oldest] = due.sort(([, a], [, b]) => a.dueAt!.getTime() - b.dueAt!.getTime());
    if (!oldest) return undefined;
    const [key, row] = oldest;
    const report = { ...row.report, attempt: row.report.attempt + 1 };
    this.#tables.commitReports.set(key, { ...row, report, leaseUntil: this.#after(leaseMs) });
    return copied(report);
  }

  async finish(report: CommitReport): Promise<void> {
    const row = this.#tables.commitReports.get(reportKey(report));
    if (!row) return;
    const { attempt } = row.report;
    const isHeld = attempt === report.attempt;
    this.#put(row, {
      report: { ...row.report, attempt: isHeld ? attempt : attempt + 1 },
      dueAt: isHeld && isSame(row, report) ? null : this.#after(0),
      leaseUntil: isHeld ? null : row.leaseUntil,
    });
  }

  async retry(report: CommitReport, next: { readonly afterMs: number; readonly failures: number }): Promise<void> {
    const row = this.#tables.commitReports.get(reportKey(report));
    if (row?.report.attempt !== report.attempt) return;
    const failures = isSame(row, report) ? next.failures : 0;
    this.#put(row, { report: { ...row.report, failures }, dueAt: this.#after(next.afterMs), leaseUntil: null });
  }

  async nextDueMs(): Promise<number | null> {
    const first = Math.min(...this.#tables.commitReports.values().map(freeAt));
    return first === Number.POSITIVE_INFINITY ? null : Math.max(first - this.#tables.clock.now().getTime(), 0);
  }

  onDue(handler: () => void): () => void {
    const own = () => handler();
    this.#tables.reportHandlers.add(own);
    return () => this.#tables.reportHandlers.delete(own);
  }

  #put(row: ReportRow, change: Omit<ReportRow, "version">): void {
    this.#tables.commitReports.set(reportKey(row.report), { ...row, ...change });
  }

  #after(ms: number): Date {
    return new Date(this.#tables.clock.now().getTime() + ms);
  }
}

/** Returns when an entry can be taken, in milliseconds; infinity if there is nothing to report. */
function freeAt({ dueAt, leaseUntil }: ReportRow): number {
  return dueAt === null ? Number.POSITIVE_INFINITY : Math.max(dueAt.getTime(), leaseUntil?.getTime() ?? 0);
}

function isSame({ report: { deploymentId, status } }: ReportRow, taken: CommitReport): boolean {
  return deploymentId === taken.deploymentId && status === taken.status;
}
