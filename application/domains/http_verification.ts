import type { DomainName } from "../../domain/domains/domain_name.ts";
import type { Organizations } from "../../ports/identity/organizations.ts";

export interface HttpVerificationPorts {
  readonly mode: "self-hosted" | "cloud";
  readonly organizations: Organizations;
}

/**
 * Returns whether one of these names can be verified by leading to this installation. That shows which installation a
 * name leads to, and not which organization controls it: it counts where there is only one, and never in cloud mode.
 */
export function httpVerification({ mode, organizations }: HttpVerificationPorts) {
  return async function (domains: readonly DomainName[]): Promise<boolean> {
    if (mode === "cloud" || domains.every(({ verifiedAt }) => verifiedAt !== null)) return false;
    return !(await organizations.areSeveral());
  };
}
