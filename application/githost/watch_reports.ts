import { reportCommits, type ReportCommitPorts } from "./report_commits.ts";
import { reportPullRequests, type ReportPullRequestPorts } from "./report_pull_requests.ts";
import { watchOutbox } from "./watch_outbox.ts";

/** Reports to commits and pull requests for as long as the server runs. */
export function watchReports(ports: ReportCommitPorts & ReportPullRequestPorts) {
  const watches = [watchOutbox(reportCommits(ports)), watchOutbox(reportPullRequests(ports))];
  /** Runs until the signal aborts. Never rejects. */
  return async function (signal: AbortSignal): Promise<void> {
    await Promise.all(watches.map((watch) => watch(signal)));
  };
}
