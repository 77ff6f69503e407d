import type { AppInstallation } from "../../domain/githost/app_installation.ts";
import type { Attempted, Origin } from "../system/audit_trail.ts";

/** The git host itself, where no client made the request. */
const GIT_HOST: Origin = { from: "git host", requestId: "" };

/** The audit entry of an account or an installation that is connected by what the git host returned. */
export function connectedEntry(
  by: { readonly organizationId: string; readonly userId: string },
  account: string,
  origin: Origin = GIT_HOST,
): Attempted {
  return entry(by, { account, action: "githost.connected", origin });
}

/** The audit entry of a change of an installation that the git host reports, in the name of who connected it. */
export function installationEntry(
  { account, connectedBy: userId, organizationId }: AppInstallation,
  action: "githost.uninstalled" | "githost.suspended" | "githost.unsuspended",
): Attempted {
  return entry({ organizationId, userId }, { account: account.login, action, origin: GIT_HOST });
}

function entry(
  { organizationId, userId }: { readonly organizationId: string; readonly userId: string },
  { account, action, origin }: { readonly account: string; readonly action: string; readonly origin: Origin },
): Attempted {
  const by = { organizationId, userId };
  return { by, credential: { kind: "githost", id: account }, action, target: account, ...origin };
}
