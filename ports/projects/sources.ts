import type { DeploymentSource } from "../../domain/deployments/deployment.ts";
import type { Secret } from "../../domain/secret.ts";

/** What was fetched. */
export interface FetchedSource {
  readonly commitSha: string | null;
  /** Its first line. */
  readonly commitMessage: string | null;
}

/** A source that lies outside the release folders. */
export type FetchableSource = Exclude<DeploymentSource, { kind: "artifact" | "copy" | "none" }>;

/** Where a source goes, and who watches. */
export interface FetchTarget {
  readonly folder: string;
  /** A token for the host of a git address, or `user:password`; other hosts never get it. */
  readonly credential?: Secret;
  readonly signal: AbortSignal;
  /** Whether nobody will write to what is fetched: then it may share its bytes with what else this service keeps. */
  readonly shared?: boolean;
  readonly log: (line: string, stream: "stdout" | "stderr") => void | Promise<void>;
}

/** Brings the code of a deployment into its folder; `Kind` says of which kinds of source. */
export interface Sources<Kind extends FetchableSource["kind"] = FetchableSource["kind"]> {
  /**
   * Fills an existing empty folder; no link in it leads out of it. Rejects with a `Failure` whose sentence says what went wrong and that holds no
   * credential, when aborted with the signal's reason, once every program it started has ended.
   */
  fetch(source: Extract<FetchableSource, { kind: Kind }>, into: FetchTarget): Promise<FetchedSource>;
}
