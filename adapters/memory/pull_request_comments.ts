import { pullRequestNotFound, refusedByHost } from "../../domain/githost/host_failures.ts";
import { fullName, type RepositoryName } from "../../domain/githost/repository.ts";
import type { HostAccess } from "../../ports/githost/host_access.ts";
import type { PullRequestComment, PullRequestComments } from "../../ports/githost/pull_request_comments.ts";
import type { MemoryGitHostState } from "./git_host.ts";
import { MAX_COMMENT } from "./host_pull_requests.ts";

/** The comments on pull requests of a git host in memory. */
export class MemoryPullRequestComments implements PullRequestComments {
  readonly #host: MemoryGitHostState;

  constructor(host: MemoryGitHostState) {
    this.#host = host;
  }

  async put(
    access: HostAccess,
    name: RepositoryName,
    number: number,
    ...[{ body, marker, commentId }, signal]: [PullRequestComment, AbortSignal]
  ): Promise<number> {
    this.#host.enterAs(access, signal);
    const action = `comment on the pull request ${number} of "${fullName(name)}"`;
    const { comments, pulls, repository } = this.#host.visible(access, name);
    if (!pulls.has(number)) throw pullRequestNotFound(name, number);
    if (!this.#host.mayComment(access, repository)) throw refusedByHost(action, "this login may not comment");
    if (body.length > MAX_COMMENT)
      throw refusedByHost(action, `body is too long (maximum is ${MAX_COMMENT} characters)`);
    const known = commentId === null ? undefined : comments.get(commentId);
    const marked = comments.values().filter((each) => each.number === number && each.body.startsWith(marker));
    const candidates = [...(known ? [known] : []), ...marked];
    const found = candidates.find(({ author }) => this.#host.mayChangeComment(access, repository, author));
    if (!found) return this.#host.addComment(name, number, { author: this.#host.authorOf(access), body });
    comments.set(found.id, { ...found, body });
    return found.id;
  }
}
