import type { Principal } from "../../domain/identity/permission.ts";
import { demand } from "../../domain/identity/permission.ts";
import type { GitHostChoices } from "../../ports/githost/git_host_choices.ts";
import type { AppInstallations } from "../../ports/githost/app_installations.ts";
import type { ConnectAttempts } from "../../ports/githost/connect_attempts.ts";
import type { OAuthAccounts } from "../../ports/githost/oauth_accounts.ts";

export interface DisconnectPorts {
  readonly connectAttempts: ConnectAttempts;
  readonly gitHostChoices: GitHostChoices;
  readonly appInstallations: AppInstallations;
  readonly oauthAccounts: OAuthAccounts;
}

export type DisconnectSource = "oauth" | "cli" | "all";

/**
 * Drops what is stored for a source, for the whole organization. Uninstalls nothing at the git host: `all` forgets the
 * app's installations here, and installing it again connects them again. A login of the caller on another device that is
 * still pending is given up.
 */
export function disconnect({ connectAttempts, gitHostChoices, appInstallations, oauthAccounts }: DisconnectPorts) {
  return async function (by: Principal, source: DisconnectSource): Promise<void> {
    demand(by, "githost:admin");
    const { organizationId } = by;
    if (source !== "cli") {
      const pending = await connectAttempts.device(organizationId, by.userId);
      if (pending) await connectAttempts.settleDevice(pending, { ...pending, status: "denied" });
      for (const { userId } of await oauthAccounts.list(organizationId))
        await oauthAccounts.remove(organizationId, userId);
    }
    if (source !== "oauth") await gitHostChoices.setCommandLineOff(organizationId, true);
    if (source === "all") {
      for (const { id } of await appInstallations.list(organizationId)) await appInstallations.remove(id);
    }
  };
}
