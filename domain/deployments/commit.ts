/** The commit that a deployment is built from; `null` until it is known, and for folders. */
export interface Commit {
  readonly commitSha: string | null;
  /** The first line of the message. */
  readonly commitMessage: string | null;
}

export const NO_COMMIT: Commit = { commitSha: null, commitMessage: null };

/** Returns the commit of a deployment, for another deployment of the same code. */
export function commitOf({ commitSha, commitMessage }: Commit): Commit {
  return { commitSha, commitMessage };
}
