import type { Attempted, Origin } from "../system/audit_trail.ts";

/** The git host itself, where no client made the request. */
const GIT_HOST: Origin = { from: "git host", requestId: "" };

/** The audit entry of an account or an installation that is connected by what the git host returned. */
export function connecting(
  { organizationId, userId }: { readonly organizationId: string; readonly userId: string },
  account: string,
  origin: Origin = GIT_HOST,
): Attempted {
  const by = { organizationId, userId };
  return { by, credential: { kind: "githost", id: account }, action: "githost.connected", target: account, ...origin };
}
