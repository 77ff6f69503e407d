import { conflict, type Failure, invalid } from "../../domain/failure.ts";
import type { HostInstallation } from "../../domain/githost/app_installation.ts";
import type { ConnectAttempt } from "../../ports/githost/connect_attempts.ts";
import type { GitAccounts } from "../../ports/githost/git_accounts.ts";
import type { AppInstallations } from "../../ports/githost/app_installations.ts";
import type { AuditTrail, Origin } from "../system/audit_trail.ts";
import { connectedEntry } from "./host_audit.ts";
import { connectState, type ConnectStatePorts } from "./connect_state.ts";
import { callbackUrl, type GitHostSettings } from "./git_host_settings.ts";
import { authorizeUrl } from "./host_urls.ts";

export interface VerifyInstallationPorts extends ConnectStatePorts {
  readonly auditTrail: AuditTrail;
  readonly gitAccounts: GitAccounts;
  readonly gitHost: GitHostSettings;
  readonly appInstallations: AppInstallations;
}

/** Whether the installation is connected, or where the user has to authorize first. */
export type InstallationOutcome =
  | { readonly next: "connected"; readonly account: string }
  | { readonly next: "redirect"; readonly url: string };

/** What the git host returned about an installation, and to whom. */
export interface ReturnedInstallation {
  readonly code: string | undefined;
  readonly claim: ConnectAttempt;
  readonly origin: Origin;
}

/** The clocks of the git host and of this server may differ by this much. */
const CLOCK_SKEW_MS = 60_000;

/**
 * Connects an installation of the app if the user who came back can manage it, which the git host confirms by OAuth: where
 * that is configured and there is no code yet, the user has to authorize first.
 */
export function verifyInstallation(ports: VerifyInstallationPorts) {
  const { appInstallations, gitAccounts, gitHost } = ports;
  return async function (
    installationId: number,
    { code, claim, origin }: ReturnedInstallation,
    signal: AbortSignal,
  ): Promise<InstallationOutcome> {
    const { organizationId, userId } = claim;
    if (code === undefined && gitHost.oauth?.hasSecret) {
      const state = await connectState(ports, { organizationId, userId, installationId });
      return { next: "redirect", url: authorizeUrl(gitHost, state) };
    }
    const found = await gitAccounts.installation(installationId, signal);
    if (!found) throw notTheirs();
    if (code === undefined) checkFresh(found, claim);
    else await checkTheirs(code, installationId, signal);
    const { id, account, suspended } = found;
    const connectedAt = ports.clock.now();
    const installation = { id, account, suspended, organizationId, connectedBy: userId, connectedAt };
    await ports.auditTrail.around(connectedEntry({ organizationId, userId }, account.login, origin), async () => {
      if (await appInstallations.connect(installation)) return;
      const sentence = `Cannot connect the app of "${account.login}": it belongs to another organization here already`;
      throw conflict("installation_taken", sentence);
    });
    // An account has one installation of an app, so the host has not reported that a former one is gone.
    for (const former of await appInstallations.list(organizationId)) {
      if (former.account.id === account.id && former.id !== id) await appInstallations.remove(former.id);
    }
    return { next: "connected", account: account.login };
  };

  async function checkTheirs(code: string, installationId: number, signal: AbortSignal): Promise<void> {
    const { token } = await gitAccounts.exchangeCode(code, callbackUrl(gitHost), signal);
    if (!(await gitAccounts.installationsOf(token, signal)).includes(installationId)) throw notTheirs();
  }

  /**
   * Without OAuth the git host does not tell who came back. An installation that was made after the user began is theirs
   * on a server of one operator; anybody could claim an older one by its number.
   */
  function checkFresh({ createdAt }: HostInstallation, { startedAt }: ConnectAttempt): void {
    if (gitHost.mode === "self-hosted" && createdAt.getTime() >= startedAt.getTime() - CLOCK_SKEW_MS) return;
    throw invalid(
      "installation_unverified",
      "Cannot connect this installation: it cannot be verified that it is yours. Set GITHOST_CLIENT_ID and " +
        "GITHOST_CLIENT_SECRET to those of the app; or uninstall the app there and install it again from here",
    );
  }
}

function notTheirs(): Failure {
  return invalid(
    "installation_not_found",
    "Cannot connect this installation: the git host does not list it among yours. Start again in Slipway",
  );
}
