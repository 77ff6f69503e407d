import type { PullRequestChange } from "../../domain/githost/pull_request.ts";
import type { RepositoryName } from "../../domain/githost/repository.ts";
import type { Project } from "../../domain/projects/project.ts";
import type { Outbox, OutboxEntry } from "./outbox.ts";

/** A reported change of a pull request. */
export interface NotedPullRequest {
  readonly repository: RepositoryName;
  readonly number: number;
  readonly change: PullRequestChange;
  readonly changedAt: Date;
}

/** A claim on writing the comment about the preview of a pull request. */
export interface PullRequestReport extends OutboxEntry {
  readonly organizationId: string;
  readonly projectId: string;
  /** The repository that it was reported for. */
  readonly repository: RepositoryName;
  readonly number: number;
  /** The comment on the git host; `null` until there is one. */
  readonly commentId: number | null;
  /** Incremented whenever there is something new to report. */
  readonly revision: number;
}

/**
 * Stores the pull requests of projects that were reported, and which of them have to be commented on.
 *
 * Storing a deployment of a pull request enters it whenever its status, or whether it waits or has ended, is new.
 * `finish()` also stores the id of the comment. Pull requests go with their project.
 */
export interface PullRequests extends Outbox<PullRequestReport> {
  /**
   * Notes a change, and returns `true`, unless a later one is known: one at a later time or, at the same time, one that
   * comes later in `PULL_REQUEST_CHANGES`. One of another repository, to which the project was linked since, replaces what
   * is known. Returns `false` if the project is gone.
   */
  note(project: Pick<Project, "id" | "organizationId">, noted: NotedPullRequest): Promise<boolean>;
  /** Returns the numbers of a project's pull requests that are closed. */
  closed(projectId: string): Promise<ReadonlySet<number>>;
}
