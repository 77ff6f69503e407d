import { Failure, type FailureOptions } from "../failure.ts";

/** The failure of a request for which the hosted cloud has to be asked, and does not answer. */
export function cloudUnreachable(options?: FailureOptions): Failure {
  const sentence =
    "Cannot reach the hosted cloud, which knows where to connect the git host. Check the cloud link and try again, " +
    "or configure an app of your own (GITHOST_APP_ID)";
  return new Failure("unavailable", "cloud_unreachable", sentence, options);
}
