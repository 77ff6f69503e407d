import type { CommitReport, CommitReports } from "../../ports/githost/commit_reports.ts";
import { reportKey } from "./enter_commit_report.ts";
import type { MemoryTables, ReportRow } from "./memory_tables.ts";
import { MemoryOutbox } from "./outbox.ts";

/** Keeps in memory what has to be reported to commits. */
export class MemoryCommitReports extends MemoryOutbox<CommitReport, ReportRow> implements CommitReports {
  constructor(tables: MemoryTables) {
    super({
      rows: tables.commitReports,
      handlers: tables.reportHandlers,
      clock: tables.clock,
      keyOf: reportKey,
      isSame: (row, taken) => row.deploymentId === taken.deploymentId && row.status === taken.status,
    });
  }
}
