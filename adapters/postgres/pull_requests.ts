import { PULL_REQUEST_CHANGES } from "../../domain/githost/pull_request.ts";
import type { NotedPullRequest, PullRequestReport, PullRequests } from "../../ports/githost/pull_requests.ts";
import type { Project } from "../../domain/projects/project.ts";
import type { Database, Sql } from "./database.ts";
import { type OutboxTable, PostgresOutbox } from "./outbox.ts";
import type { PostgresSignals } from "./signals.ts";

interface ReportRow {
  readonly project_id: string;
  readonly number: number;
  readonly organization_id: string;
  readonly owner: string;
  readonly repo: string;
  /** A bigint, which arrives as text. */
  readonly comment_id: string | null;
  readonly revision: number;
  readonly failures: number;
  readonly attempt: number;
}

const TABLE: OutboxTable<ReportRow, PullRequestReport> = {
  table: "pull_requests",
  keys: ["project_id", "number"],
  columns: [
    "project_id",
    "number",
    "organization_id",
    "owner",
    "repo",
    "comment_id",
    "revision",
    "failures",
    "attempt",
  ],
  channel: "slipway_pull_requests",
  toEntry: (row) => ({
    organizationId: row.organization_id,
    projectId: row.project_id,
    repository: { owner: row.owner, repo: row.repo },
    number: row.number,
    commentId: row.comment_id === null ? null : Number(row.comment_id),
    revision: row.revision,
    failures: row.failures,
    attempt: row.attempt,
  }),
  isRow: (sql, { projectId, number }) => sql`(project_id = ${projectId} and number = ${number}::integer)`,
  isSame: (sql, { revision }) => sql`(revision = ${revision}::integer)`,
  alsoStored: (sql, { commentId }) => sql`comment_id = coalesce(${commentId}::bigint, comment_id),`,
};

/** Stores pull requests in PostgreSQL. A trigger on deployments enters what has to be commented on. */
export class PostgresPullRequests extends PostgresOutbox<ReportRow, PullRequestReport> implements PullRequests {
  readonly #database: Database;

  constructor(database: Database, signals: PostgresSignals) {
    super(database, signals, TABLE);
    this.#database = database;
  }

  async note(
    { id }: Pick<Project, "id">,
    { repository, number, change, changedAt }: NotedPullRequest,
  ): Promise<boolean> {
    const { owner, repo } = repository;
    const rows = await this.#database.run<readonly unknown[]>(
      (sql) => sql`
        insert into pull_requests as known (project_id, number, organization_id, owner, repo, change, changed_at)
        select id, ${number}::integer, organization_id, ${owner}, ${repo}, ${change}, ${changedAt}::timestamptz
        from projects where id = ${id}
        on conflict (project_id, number) do update
        set change = excluded.change, changed_at = excluded.changed_at, owner = excluded.owner, repo = excluded.repo,
          comment_id = case when ${isElsewhere(sql)} then null else known.comment_id end
        where ${isElsewhere(sql)}
          or (excluded.changed_at, ${rank(sql, "excluded.change")}) >= (known.changed_at, ${rank(sql, "known.change")})
        returning number`,
      { pull_requests_project: () => [] },
    );
    return rows.length > 0;
  }

  async closed(projectId: string): Promise<ReadonlySet<number>> {
    const rows = await this.#database.run(
      (sql) => sql<{ number: number }[]>`
        select number from pull_requests where project_id = ${projectId} and change = 'closed'`,
    );
    return new Set(rows.map(({ number }) => number));
  }
}

function rank(sql: Sql, column: string) {
  return sql`array_position(${[...PULL_REQUEST_CHANGES]}::text[], ${sql(column)})`;
}

/** Whether what is known is about another repository. */
function isElsewhere(sql: Sql) {
  return sql`(lower(known.owner), lower(known.repo)) <> (lower(excluded.owner), lower(excluded.repo))`;
}
