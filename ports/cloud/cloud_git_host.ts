import type { CloudAddress } from "./cloud_api.ts";

/** The hosted cloud as the one that knows the addresses of the git host's app. */
export interface CloudGitHost {
  /**
   * Returns the address on which a user connects the git host. Rejects with an `unavailable` failure, code
   * `cloud_unreachable`, when the cloud does not answer with one within 3 s.
   */
  connectUrl(cloud: CloudAddress, signal: AbortSignal): Promise<string>;
}
