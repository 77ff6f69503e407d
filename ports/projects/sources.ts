import type { Commit } from "../../domain/deployments/commit.ts";
import type { DeploymentSource } from "../../domain/deployments/deployment.ts";
import type { PinnedHostKey } from "../../domain/projects/deploy_key.ts";
import type { Secret } from "../../domain/secret.ts";

/** A source outside the release folders. */
export type FetchableSource = Exclude<DeploymentSource, { kind: "artifact" | "copy" | "none" }>;

/** How a project's fetch from an SSH server logs in. */
export interface SshAccess {
  /** API path of the project's deploy key, which error messages name. */
  readonly deployKeyPath: string;
  /** Absent when the project has no deploy key for the server of this source. */
  readonly login?: SshLogin;
}

/** The login at the SSH server of a source. */
export interface SshLogin {
  /** In OpenSSH's format. Never written to disk, and never used for another server than that of the source. */
  readonly privateKey: Secret;
  /** The public part, as it is given to the git server. */
  readonly publicKey: string;
  /** The keys that servers must present. */
  readonly hostKeys: readonly PinnedHostKey[];
  /**
   * Called with the key of a server that is not among these, as soon as git has seen it. Resolves to the key that is
   * pinned; if it is another one, the fetch is refused.
   */
  readonly pinHostKey: (host: string, key: string) => Promise<PinnedHostKey | undefined>;
}

/** The target folder of a fetch and its options. */
export interface FetchTarget {
  readonly folder: string;
  /**
   * Returns a token for a repository, or `user:password`; asked for a git URL and for its submodules on the same host.
   * Never sent to other hosts.
   */
  readonly credentialFor?: (url: string) => Promise<Secret | undefined>;
  /** A sentence for those whose repository cannot be cloned without another login. */
  readonly loginAdvice?: string;
  /** For a git URL of an SSH server. Without it, no key is offered. */
  readonly ssh?: SshAccess;
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
   * cause and contains no credential (code `git_host_key_changed` when an SSH server presents another key than the
   * pinned one, before it is sent anything), or with the signal's reason when aborted, after every program it started has
   * ended.
   */
  fetch(source: Extract<FetchableSource, { kind: Kind }>, into: FetchTarget): Promise<Commit>;
}
