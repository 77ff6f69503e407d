import { Failure, type FailureOptions, invalid } from "../failure.ts";
import { fullName, MAX_FILE_BYTES, type RepositoryName } from "./repository.ts";

/** The failure for a repository that does not exist or that the access cannot see. */
export function repositoryNotFound(name: RepositoryName, options?: FailureOptions): Failure {
  const why = "it does not exist on the git host, or this connection has no access to it. Check owner and name";
  const sentence = `Cannot find the repository "${fullName(name)}": ${why}`;
  return new Failure("not_found", "repository_not_found", sentence, options);
}

/** The failure for a branch that the repository does not have. */
export function branchNotFound(name: RepositoryName, branch: string, options?: FailureOptions): Failure {
  const sentence = `Cannot find the branch "${branch}": the repository "${fullName(name)}" does not have it. Check its name`;
  return new Failure("not_found", "branch_not_found", sentence, options);
}

/** The failure for a commit that the repository does not have. */
export function commitNotFound(name: RepositoryName, sha: string, options?: FailureOptions): Failure {
  const why = `the repository "${fullName(name)}" does not have it any more. Deploy one that it has`;
  return new Failure("not_found", "commit_not_found", `Cannot find the commit "${sha}": ${why}`, options);
}

/** The failure for a pull request that the repository does not have. */
export function pullRequestNotFound(name: RepositoryName, number: number, options?: FailureOptions): Failure {
  const why = `the repository "${fullName(name)}" does not have it. Check its number`;
  return new Failure("not_found", "pull_request_not_found", `Cannot find the pull request ${number}: ${why}`, options);
}

/** The failure for a path that is not there, or that is a folder instead of a file or a file instead of a folder. */
export function fileNotFound(
  name: RepositoryName,
  { path, wanted }: { readonly path: string; readonly wanted: "file" | "folder" },
  options?: FailureOptions,
): Failure {
  const why = `the repository "${fullName(name)}" has no ${wanted} at this path. Check path and branch`;
  return new Failure("not_found", "file_not_found", `Cannot find the ${wanted} "${path}": ${why}`, options);
}

/** The failure for a file beyond `MAX_FILE_BYTES`. */
export function fileTooLarge(path: string, options?: FailureOptions): Failure {
  const why = `it is larger than ${MAX_FILE_BYTES} bytes. Clone the repository to read it`;
  return new Failure("too_large", "file_too_large", `Cannot read the file "${path}": ${why}`, options);
}

/** The failure for a webhook that the repository does not have. */
export function webhookNotFound(name: RepositoryName, id: number, options?: FailureOptions): Failure {
  const why = `the repository "${fullName(name)}" does not have it any more. Register the webhook again`;
  return new Failure("not_found", "webhook_not_found", `Cannot find the webhook ${id}: ${why}`, options);
}

/** The failure for a token, a code or an installation that the git host does not accept any more. */
export function loginExpired(options?: FailureOptions): Failure {
  const sentence = "Cannot use the git host: it does not accept this login any more. Connect the git host again";
  return invalid("githost_login_expired", sentence, options);
}

/** The failure for a request that the git host refuses, with its reason. */
export function refusedByHost(action: string, reason: string, options?: FailureOptions): Failure {
  const why = reason.trim().replace(/[.\s]+$/, "") || "no reason given";
  const sentence = `Cannot ${action}: the git host refuses it (${why}). Correct the request, or the rights of the login`;
  return invalid("githost_refused", sentence, options);
}

/** The failure for a rate limit that lasts longer than anyone waits. */
export function rateLimited(retryAfter: number, options?: FailureOptions): Failure {
  const sentence = `Cannot use the git host: its rate limit is used up. Try again in ${retryAfter} s`;
  return new Failure("unavailable", "githost_rate_limited", sentence, { ...options, retryAfter });
}

/** The failure for a git host that is unreachable, silent or broken. */
export function hostFailed(why: string, options?: FailureOptions): Failure {
  return new Failure("remote_failed", "githost_failed", `Cannot use the git host: ${why}. Try again later`, options);
}

/** The failure for an operation that needs settings of the git host that are missing or wrong. */
export function hostNotConfigured(why: string, options?: FailureOptions): Failure {
  return new Failure("unavailable", "githost_not_configured", `Cannot use the git host: ${why}`, options);
}
