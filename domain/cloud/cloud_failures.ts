import { Failure, type FailureOptions, invalid } from "../failure.ts";

/** The failure of a request that the hosted cloud has to answer, and does not. */
export function cloudAway(options?: FailureOptions): Failure {
  const sentence =
    "Cannot reach the hosted cloud, where this runs: try again in a moment. If you changed something, look at it first, " +
    "because the cloud may have carried it out";
  return new Failure("unavailable", "cloud_away", sentence, options);
}

/** The failure of an answer of the hosted cloud that cannot be understood. */
export function cloudUnreadable(options?: FailureOptions): Failure {
  const sentence =
    "Cannot understand the hosted cloud's answer: check the address of the cloud link, and both versions";
  return new Failure("remote_failed", "cloud_unreadable", sentence, options);
}

/** Why the deployments of cloud projects are missing from a list, where there is no link to a cloud any more. */
export const CLOUD_UNLINKED =
  "The organization is not linked to the cloud any more. An owner sets the link with PUT /api/cloud/link";

/** The failure of a request that needs a link to the hosted cloud, where there is none. */
export function cloudNotLinked(): Failure {
  const sentence =
    "Cannot deploy to the cloud: this organization has no link to one. An owner sets it with PUT /api/cloud/link";
  return invalid("cloud_not_linked", sentence);
}

/** The failure of a request with a token that the hosted cloud does not know any more. */
export function cloudRefused(): Failure {
  const sentence =
    "Cannot use the link to the hosted cloud: it refuses the link's token. An owner makes a new one there " +
    "(POST /api/tokens with link: true) and sets it here with PUT /api/cloud/link";
  return new Failure("remote_failed", "cloud_refused", sentence);
}

/** The failure of a link to an address where no hosted cloud is. */
export function notCloud(): Failure {
  return invalid("not_a_cloud", "Cannot link: there is no Slipway in cloud mode at this address. Check the address");
}

/** The failure of a link with a token that is not meant for it. */
export function notLinkToken(): Failure {
  const sentence =
    "Cannot link with this token: it is not for links. An owner of the organization in the cloud makes one there, with " +
    'POST /api/tokens {"name": "…", "link": true}';
  return invalid("not_a_link_token", sentence);
}
