import { isBranchName } from "../projects/project.ts";
import { fieldsOf, repositoryNamed } from "./push.ts";
import { isSameRepository, type RepositoryName } from "./repository.ts";

/** What was reported of a pull request. At the same time, a later one of these wins. */
export const PULL_REQUEST_CHANGES = ["opened", "changed", "closed"] as const;

export type PullRequestChange = (typeof PULL_REQUEST_CHANGES)[number];

/** A pull request, as the git host reports it. */
export interface PullRequest {
  readonly repository: RepositoryName;
  readonly number: number;
  /** `undefined` for a report that says nothing about its commits, such as of a label. */
  readonly change: PullRequestChange | undefined;
  readonly headSha: string;
  /** The branch of its commits; `null` if that is in another repository, or has a name that git does not accept. */
  readonly branch: string | null;
  /** Whether its commits come from another repository. */
  readonly fork: boolean;
  /** When it was changed, as the git host counts time. */
  readonly changedAt: Date;
}

const CHANGES: ReadonlyMap<unknown, PullRequestChange> = new Map([
  ["opened", "opened"],
  ["reopened", "changed"],
  ["synchronize", "changed"],
  ["closed", "closed"],
]);
const SHA = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;
/** PostgreSQL's largest integer. */
const LARGEST = 2_147_483_647;

/** Reads the body of a pull request event; `undefined` if it is none. */
export function readPullRequest(body: unknown): PullRequest | undefined {
  const { action, number, pull_request: request, repository } = fieldsOf(body);
  const { head, updated_at: updatedAt } = fieldsOf(request);
  const { sha, ref, repo } = fieldsOf(head);
  const named = repositoryNamed(fieldsOf(repository)["full_name"]);
  const from = repositoryNamed(fieldsOf(repo)["full_name"]);
  const changedAt = typeof updatedAt === "string" ? new Date(updatedAt) : undefined;
  if (!named || typeof number !== "number" || !Number.isInteger(number) || number < 1 || number > LARGEST)
    return undefined;
  if (typeof sha !== "string" || !SHA.test(sha) || !changedAt || !isStorable(changedAt)) return undefined;
  // The repository of a fork that was deleted is not named any more.
  const fork = from === undefined || !isSameRepository(from, named);
  const branch = !fork && typeof ref === "string" && isBranchName(ref) ? ref : null;
  return { repository: named, number, change: CHANGES.get(action), headSha: sha, branch, fork, changedAt };
}

/** Whether a time is one, with a year of four digits. */
function isStorable(time: Date): boolean {
  return time.getTime() >= 0 && time.getTime() < Date.UTC(10_000, 0);
}
