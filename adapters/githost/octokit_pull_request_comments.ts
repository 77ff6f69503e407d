import { pullRequestNotFound, refusedByHost, repositoryNotFound } from "../../domain/githost/host_failures.ts";
import { fullName, type RepositoryName } from "../../domain/githost/repository.ts";
import type { HostAccess } from "../../ports/githost/host_access.ts";
import type { PullRequestComment, PullRequestComments } from "../../ports/githost/pull_request_comments.ts";
import { numberIn } from "./answer_fields.ts";
import type { HostCall } from "./host_call.ts";
import { hasStatus, isForbidden } from "./host_failure.ts";
import { isRepositoryName } from "./host_names.ts";
import type { OctokitClients } from "./octokit_clients.ts";
import { readRepository } from "./repository_from.ts";

/** The most comments with the marker that are tried: anybody may write more of them. */
const MOST_TRIES = 10;

/** The comments on pull requests of a git host that octokit reaches. */
export class OctokitPullRequestComments implements PullRequestComments {
  readonly #clients: OctokitClients;

  constructor(clients: OctokitClients) {
    this.#clients = clients;
  }

  async put(
    access: HostAccess,
    name: RepositoryName,
    number: number,
    ...[{ body, marker, commentId }, signal]: [PullRequestComment, AbortSignal]
  ): Promise<number> {
    const action = `comment on the pull request ${number} of "${fullName(name)}"`;
    const notFound = (call: HostCall) => whyMissing(call, name, number);
    return await this.#clients.as(access, { action, signal, notFound }, async (call) => {
      if (!isRepositoryName(name)) throw repositoryNotFound(name);
      if (commentId !== null && (await change(call, name, commentId, body))) return commentId;
      for (const id of (await findMarked(call, name, number, marker)).slice(0, MOST_TRIES))
        if (id !== commentId && (await change(call, name, id, body))) return id;
      return await add(call, { ...name, issue_number: number, body }, action);
    });
  }
}

/** Changes a comment. Returns `false` if it is gone, or if this access may not change it. */
async function change(call: HostCall, name: RepositoryName, id: number, body: string): Promise<boolean> {
  try {
    await call.send(({ rest }, options) => rest.issues.updateComment({ ...name, comment_id: id, body, ...options }));
    return true;
  } catch (error) {
    if (hasStatus(error, 404) || isForbidden(error)) return false;
    throw error;
  }
}

/** Returns the ids of the comments with the marker, the oldest first. */
async function findMarked(call: HostCall, name: RepositoryName, number: number, marker: string): Promise<number[]> {
  const comments = await call.list(
    `comments ${fullName(name)} ${number} ${marker}`,
    ({ rest }, options) => rest.issues.listComments({ ...name, issue_number: number, ...options }),
    (data) => data.map(({ id, body }) => ({ id: numberIn(id), isMarked: body?.startsWith(marker) ?? false })),
  );
  const marked = comments.filter(({ isMarked }) => isMarked).map(({ id }) => id);
  return marked.sort((one, other) => one - other);
}

/** Adds a comment to a pull request that this access can see. */
async function add(
  call: HostCall,
  comment: RepositoryName & { readonly issue_number: number; readonly body: string },
  action: string,
): Promise<number> {
  try {
    const { data } = await call.send(({ rest }, options) => rest.issues.createComment({ ...comment, ...options }));
    return numberIn(data.id);
  } catch (error) {
    throw hasStatus(error, 404) ? refusedByHost(action, "this login may not comment") : error;
  }
}

/** Explains an answer 404 to the list of comments. */
async function whyMissing(call: HostCall, name: RepositoryName, number: number): Promise<Error> {
  try {
    await readRepository(call, name);
    return pullRequestNotFound(name, number);
  } catch (error) {
    if (!hasStatus(error, 404)) throw error;
    return repositoryNotFound(name);
  }
}
