import type { CommitStatus } from "../../domain/githost/commit_status.ts";
import { commitNotFound, refusedByHost, repositoryNotFound } from "../../domain/githost/host_failures.ts";
import { fullName, type RepositoryName } from "../../domain/githost/repository.ts";
import type { CommitStatuses } from "../../ports/githost/commit_statuses.ts";
import type { HostAccess } from "../../ports/githost/host_access.ts";
import type { HostCall } from "./host_call.ts";
import { hasStatus, wordsOf } from "./host_failure.ts";
import { isRepositoryName } from "./host_names.ts";
import type { OctokitClients } from "./octokit_clients.ts";
import { readRepository } from "./repository_from.ts";

/** The statuses of commits of a git host that octokit reaches. */
export class OctokitCommitStatuses implements CommitStatuses {
  readonly #clients: OctokitClients;

  constructor(clients: OctokitClients) {
    this.#clients = clients;
  }

  async put(
    access: HostAccess,
    name: RepositoryName,
    sha: string,
    ...[{ state, description, targetUrl, context }, signal]: [CommitStatus, AbortSignal]
  ): Promise<void> {
    const action = `set the status of a commit of "${fullName(name)}"`;
    const notFound = (call: HostCall) => whyMissing(call, name, action);
    await this.#clients.as(access, { action, signal, notFound }, async (call) => {
      if (!isRepositoryName(name)) throw repositoryNotFound(name);
      const address = targetUrl === null ? {} : { target_url: targetUrl };
      const status = { state, description, context, ...address };
      await call
        .send(({ rest }, options) => rest.repos.createCommitStatus({ ...name, sha, ...status, ...options }))
        .catch((error: unknown) => {
          throw isUnknownCommit(error) ? commitNotFound(name, sha) : error;
        });
    });
  }
}

function isUnknownCommit(error: unknown): boolean {
  return hasStatus(error, 422) && /no commit found/i.test(wordsOf(error, []));
}

/** Explains an answer 404, which the host also gives to those who may read a repository but not set statuses. */
async function whyMissing(call: HostCall, name: RepositoryName, action: string): Promise<Error> {
  try {
    await readRepository(call, name);
    return refusedByHost(action, "this login may not set it");
  } catch (error) {
    if (!hasStatus(error, 404)) throw error;
    return repositoryNotFound(name);
  }
}
