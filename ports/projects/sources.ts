import type { Commit } from "../../domain/deployments/commit.ts";
import type { DeploymentSource } from "../../domain/deployments/deployment.ts";
import type { Secret } from "../../domain/secret.ts";

/** A source outside the release folders. */
export type FetchableSource = Exclude<DeploymentSource, { kind: "artifact" | "copy" | "none" }>;

/** The target folder of a fetch and its options. */
export interface FetchTarget {
  readonly folder: string;
  /** A token for the host of a git URL, or `user:password`. Never sent to other hosts. */
  readonly credential?: Secret;
  readonly signal: AbortSignal;
  /**
   * Whether the fetched files will never be written to. They may then share their bytes with other files of this
   * server.
   */
  readonly shared?: boolean;
  readonly log: (line: string, stream: "stdout" | "stderr") => void | Promise<void>;
}

/** Fetches the source of a deployment into a folder. `Kind` is the kinds of source it supports. */
export interface Sources<Kind extends FetchableSource["kind"] = FetchableSource["kind"]> {
  /**
   * Fills an existing empty folder. No symlink in it leads out of it. Rejects with a `Failure` whose message names the
   * cause and contains no credential, or with the signal's reason when aborted, after every program it started has
   * ended.
   */
  fetch(source: Extract<FetchableSource, { kind: Kind }>, into: FetchTarget): Promise<Commit>;
}
