import { PULL_REQUEST_CHANGES } from "../../domain/githost/pull_request.ts";
import type { Project } from "../../domain/projects/project.ts";
import { isSameRepository } from "../../domain/githost/repository.ts";
import type { Deployment } from "../../domain/deployments/deployment.ts";
import type { NotedPullRequest, PullRequestReport, PullRequests } from "../../ports/githost/pull_requests.ts";
import type { MemoryTables, PullRequestRow } from "./memory_tables.ts";
import { MemoryOutbox } from "./outbox.ts";

/** Keeps pull requests in memory. */
export class MemoryPullRequests extends MemoryOutbox<PullRequestReport, PullRequestRow> implements PullRequests {
  readonly #tables: MemoryTables;

  constructor(tables: MemoryTables) {
    super({
      rows: tables.pullRequests,
      handlers: tables.pullRequestHandlers,
      clock: tables.clock,
      keyOf: pullRequestKey,
      isSame: (row, taken) => row.revision === taken.revision,
    });
    this.#tables = tables;
  }

  async note(project: Pick<Project, "id" | "organizationId">, noted: NotedPullRequest): Promise<boolean> {
    const { number, change, changedAt, repository } = noted;
    const { id: projectId, organizationId } = project;
    if (!this.#tables.projects.has(projectId)) return false;
    const key = pullRequestKey({ projectId, number });
    const stored = this.#tables.pullRequests.get(key);
    const known = stored && isSameRepository(stored.report.repository, repository) ? stored : undefined;
    if (known && isLater(known, noted)) return false;
    const counts = { revision: 0, attempt: 0, failures: 0, ...stored?.report };
    const report = {
      ...counts,
      organizationId,
      projectId,
      repository,
      number,
      commentId: known?.report.commentId ?? null,
    };
    this.#tables.pullRequests.set(key, { dueAt: null, leaseUntil: null, ...stored, report, change, changedAt });
    return true;
  }

  async closed(projectId: string): Promise<ReadonlySet<number>> {
    const own = this.#tables.pullRequests.values().filter(({ report }) => report.projectId === projectId);
    return new Set(own.filter(({ change }) => change === "closed").map(({ report }) => report.number));
  }

  override async finish(entry: PullRequestReport): Promise<void> {
    const key = pullRequestKey(entry);
    const row = this.#tables.pullRequests.get(key);
    const commentId = entry.commentId ?? row?.report.commentId ?? null;
    if (row) this.#tables.pullRequests.set(key, { ...row, report: { ...row.report, commentId } });
    await super.finish(entry);
  }
}

/** Enters what a stored deployment has to report to its pull request, as a trigger of the database does. */
export function enterPullRequestReport(
  tables: MemoryTables,
  before: Deployment | undefined,
  after: Deployment | undefined,
): void {
  const { projectId, pullRequest } = after ?? before!;
  const isSame =
    before?.status === after?.status &&
    before?.held === after?.held &&
    before?.artifactAvailable === after?.artifactAvailable;
  const key = pullRequest && pullRequestKey({ projectId, number: pullRequest.number });
  const row = key === undefined || isSame ? undefined : tables.pullRequests.get(key);
  if (key === undefined || !row) return;
  const report = { ...row.report, revision: row.report.revision + 1, failures: 0 };
  tables.pullRequests.set(key, { ...row, report, dueAt: row.dueAt ?? tables.clock.now() });
  for (const handler of tables.pullRequestHandlers) queueMicrotask(handler);
}

type Changed = Pick<NotedPullRequest, "change" | "changedAt">;

function pullRequestKey({ projectId, number }: Pick<PullRequestReport, "projectId" | "number">): string {
  return `${projectId} ${number}`;
}

function isLater(one: Changed, other: Changed): boolean {
  const time = one.changedAt.getTime() - other.changedAt.getTime();
  if (time !== 0) return time > 0;
  return PULL_REQUEST_CHANGES.indexOf(one.change) > PULL_REQUEST_CHANGES.indexOf(other.change);
}
