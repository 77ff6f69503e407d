/** The states of a commit status on the git host. */
export type CommitState = "pending" | "success" | "failure" | "error";

/** A status that the git host shows beside a commit; a later one with the same context replaces it. */
export interface CommitStatus {
  readonly state: CommitState;
  /** At most `MAX_DESCRIPTION` characters. */
  readonly description: string;
  /** The address that the status links to. */
  readonly targetUrl: string | null;
  readonly context: string;
}

/** The longest description that git hosts accept, in characters. */
export const MAX_DESCRIPTION = 140;
