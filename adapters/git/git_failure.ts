import { Failure, type FailureKind } from "../../domain/failure.ts";

/** The failed git operation, in words that complete "Cannot …". */
export interface GitAttempt {
  readonly action: string;
  readonly branch: string | null;
  /** Completes the message when the host requires a login. */
  readonly loginAdvice: string;
  /** Whether git logged in with a deploy key. */
  readonly withDeployKey: boolean;
  /** Masks secrets. */
  readonly mask: (text: string) => string;
}

interface Cause {
  readonly code: string;
  readonly kind: FailureKind;
  readonly pattern: RegExp;
  readonly reason: (attempt: GitAttempt) => string;
}

/** In order of precedence: the first cause that matches any of git's lines wins. */
const CAUSES: readonly Cause[] = [
  {
    code: "storage_full",
    kind: "unavailable",
    pattern: /No space left on device|Disk quota exceeded/i,
    reason: () => "the disk of this server is full; free some space and try again",
  },
  {
    code: "git_host_key_changed",
    kind: "remote_failed",
    pattern: /Host key verification failed|REMOTE HOST IDENTIFICATION HAS CHANGED/i,
    reason: () =>
      "the host presents a different key than before; make sure that it is the right one, then remove the old key",
  },
  {
    code: "git_auth_failed",
    kind: "invalid",
    pattern:
      /Authentication failed|could not read (Username|Password)|returned error: 40[13]|Permission denied|Access denied|Invalid username or (password|token)|HTTP Basic|is not authorized to/i,
    reason: (attempt) => attempt.loginAdvice,
  },
  {
    code: "git_branch_not_found",
    kind: "invalid",
    pattern: /couldn't find remote ref|Remote branch .* not found/i,
    reason: ({ branch }) =>
      branch === null
        ? "it has no commits yet, or this is not the address of a repository; push a commit or correct the address"
        : `it has no branch "${branch}"; check the name`,
  },
  {
    code: "git_commit_not_found",
    kind: "invalid",
    pattern: /not our ref|unadvertised object|did not contain [0-9a-f]{40}|unable to read tree/i,
    reason: () => "it does not have this commit any more; deploy the branch instead",
  },
  {
    code: "git_not_found",
    kind: "invalid",
    pattern:
      /returned error: (404|410)|repository .* not found|Repository not found|does not appear to be a git repository|not valid: is this a git repository|could not be found or you don't have permission/i,
    reason: ({ withDeployKey }) =>
      withDeployKey
        ? "there is no repository at this address that the deploy key may read; check the address, and where the key was added"
        : "there is no repository at this address; check owner and name",
  },
  {
    code: "git_unreachable",
    kind: "remote_failed",
    pattern:
      /Could not resolve|Failed to connect|Connection (refused|reset|timed out|closed)|timed out|No route to host|Network is unreachable|returned error: (429|5\d\d)|SSL|certificate|Empty reply|hung up unexpectedly|early EOF|Could not read from remote|Operation too slow|unable to update url base from redirection/i,
    reason: () => "the host cannot be reached or closed the connection; try again later",
  },
];

/** Converts git's error output to a failure. */
export function gitFailure(errors: readonly string[], attempt: GitAttempt): Failure {
  const lines = errors.map((line) => attempt.mask(plain(line)));
  const said = lines.findLast((line) => /^(fatal|error|ERROR):/.test(line)) ?? lines.findLast((line) => line !== "");
  const cause = CAUSES.find(({ pattern }) => lines.some((line) => pattern.test(line)));
  if (cause) {
    const details = said ? { cause: new Error(said) } : {};
    return new Failure(cause.kind, cause.code, `Cannot ${attempt.action}: ${cause.reason(attempt)}`, details);
  }
  const words = said?.replace(/^(fatal|error|ERROR): /, "").slice(0, 500) || "git gave no reason";
  return new Failure("remote_failed", "git_failed", `Cannot ${attempt.action}: ${words}`);
}

/** Strips escape sequences and control characters from a line. */
function plain(line: string): string {
  // oxlint-disable-next-line no-control-regex
  return line.replaceAll(/\u001B\[[0-9;?]*[A-Za-z]|[\u0000-\u001F\u007F-\u009F]/g, "").trim();
}
