import type { Secret } from "../../domain/secret.ts";

/** Where the hosted cloud is, and the token of the link to it. */
export interface CloudAddress {
  readonly url: string;
  readonly token: Secret;
}

/** The hosted cloud as the one that knows the addresses of the git host's app. */
export interface CloudGitHost {
  /**
   * Returns the address on which a user connects the git host. Rejects with an `unavailable` failure, code
   * `cloud_unreachable`, when the cloud does not answer with one within 3 s.
   */
  connectUrl(cloud: CloudAddress, signal: AbortSignal): Promise<string>;
}
