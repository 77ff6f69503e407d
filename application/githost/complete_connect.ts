import { conflict, Failure, invalid } from "../../domain/failure.ts";
import type { HostInstallation } from "../../domain/githost/installation.ts";
import type { OAuthGrant } from "../../domain/githost/oauth_grant.ts";
import { allowsSomewhere, type Principal } from "../../domain/identity/permission.ts";
import type { ConnectAttempt } from "../../ports/githost/connect_attempts.ts";
import type { GitAccounts } from "../../ports/githost/git_accounts.ts";
import type { Installations } from "../../ports/githost/installations.ts";
import type { OAuthAccounts } from "../../ports/githost/oauth_accounts.ts";
import type { Members } from "../../ports/identity/members.ts";
import type { Organizations } from "../../ports/identity/organizations.ts";
import type { Users } from "../../ports/identity/users.ts";
import {
  badState,
  connectState,
  type ConnectStatePorts,
  findConnectAttempt,
  takeConnectAttempt,
} from "./connect_state.ts";
import { callbackUrl, type GitHostSettings } from "./git_host_settings.ts";
import { authorizeUrl } from "./host_urls.ts";

export interface CompleteConnectPorts extends ConnectStatePorts {
  readonly gitAccounts: GitAccounts;
  readonly gitHost: GitHostSettings;
  readonly installations: Installations;
  readonly members: Members;
  readonly oauthAccounts: OAuthAccounts;
  readonly organizations: Organizations;
  readonly users: Users;
}

/** What the git host sent a browser back with. */
export interface ConnectCallback {
  readonly state?: string | undefined;
  readonly code?: string | undefined;
  readonly installationId?: number | undefined;
  /** Why the user did not agree. */
  readonly error?: string | undefined;
}

/** Who is behind the browser: the caller of its session, if there is one, and whether they have confirmed. */
export interface ConnectVisitor {
  readonly session: Principal | undefined;
  readonly confirmed: boolean;
}

/** What the browser shows next. */
export type ConnectOutcome =
  | { readonly next: "connected"; readonly account: string }
  /** Somebody has to confirm first that the git host is connected to this organization of this user. */
  | { readonly next: "confirm"; readonly organization: string; readonly user: string }
  | { readonly next: "redirect"; readonly url: string };

/**
 * Completes what `connect` began. Nothing is stored unless the state is good and unused, the git host confirms the code,
 * and an installation is one that the user who came back can manage.
 */
export function completeConnect(ports: CompleteConnectPorts) {
  return async function (
    callback: ConnectCallback,
    visitor: ConnectVisitor,
    signal: AbortSignal,
  ): Promise<ConnectOutcome> {
    const { state } = callback;
    if (state === undefined) throw badState("it was not started in Slipway");
    const claim = await findConnectAttempt(ports, state);
    await checkMember(claim);
    if (callback.error !== undefined) {
      await takeConnectAttempt(ports, state);
      throw invalid("connect_denied", "Cannot connect the git host: it was not allowed there. Start again in Slipway");
    }
    const isUser = visitor.session?.userId === claim.userId;
    if (!isUser && !visitor.confirmed) return { next: "confirm", ...(await namesOf(claim)) };
    await takeConnectAttempt(ports, state);
    const installationId = callback.installationId ?? claim.installationId ?? undefined;
    if (installationId !== undefined) return installed(installationId, callback, claim, signal);
    if (callback.code === undefined) throw badState("the git host sent neither a code nor an installation");
    const grant = await ports.gitAccounts.exchangeCode(callback.code, callbackUrl(ports.gitHost), signal);
    return { next: "connected", account: await keepAccount(claim, grant, signal) };
  };

  /** The rights of the user may have changed since the beginning. */
  async function checkMember({ organizationId, userId }: ConnectAttempt): Promise<void> {
    const member = await ports.members.find(organizationId, userId);
    const by = member && { ...member, founder: false, narrowing: null, expiresAt: null };
    const credential = { kind: "session" as const, id: "" };
    if (!by || !allowsSomewhere({ ...by, credential }, "githost:write")) {
      throw badState("who started this may not connect the git host any more");
    }
  }

  async function namesOf({ organizationId, userId }: ConnectAttempt) {
    const { items } = await ports.organizations.list([organizationId], { page: 1, perPage: 1 });
    const user = await ports.users.find(userId);
    return { organization: items[0]?.name ?? organizationId, user: user?.name || user?.email || userId };
  }

  async function installed(
    installationId: number,
    { code }: ConnectCallback,
    claim: ConnectAttempt,
    signal: AbortSignal,
  ): Promise<ConnectOutcome> {
    const { organizationId, userId } = claim;
    if (code === undefined && ports.gitHost.oauth?.hasSecret) {
      const state = await connectState(ports, { organizationId, userId, installationId });
      return { next: "redirect", url: authorizeUrl(ports.gitHost, state) };
    }
    const found = await ports.gitAccounts.installation(installationId, signal);
    if (!found) throw notTheirs();
    if (code === undefined) checkFresh(found, claim);
    else await checkTheirs(code, installationId, signal);
    const { id, account, suspended } = found;
    const connectedAt = ports.clock.now();
    const installation = { id, account, suspended, organizationId, connectedBy: userId, connectedAt };
    if (!(await ports.installations.connect(installation))) {
      const sentence = `Cannot connect the app of "${account.login}": it belongs to another organization here already`;
      throw conflict("installation_taken", sentence);
    }
    return { next: "connected", account: account.login };
  }

  async function checkTheirs(code: string, installationId: number, signal: AbortSignal): Promise<void> {
    const { token } = await ports.gitAccounts.exchangeCode(code, callbackUrl(ports.gitHost), signal);
    if (!(await ports.gitAccounts.installationsOf(token, signal)).includes(installationId)) throw notTheirs();
  }

  /**
   * Without OAuth the git host does not tell who came back. An installation that was made after the user began is theirs
   * on a server of one operator; anybody could claim an older one by its number.
   */
  function checkFresh({ createdAt }: HostInstallation, { startedAt }: ConnectAttempt): void {
    if (ports.gitHost.mode === "self-hosted" && createdAt.getTime() >= startedAt.getTime() - CLOCK_SKEW_MS) return;
    throw invalid(
      "installation_unverified",
      "Cannot connect this installation: it cannot be verified that it is yours. Set GITHOST_CLIENT_ID and " +
        "GITHOST_CLIENT_SECRET to those of the app; or uninstall the app there and install it again from here",
    );
  }

  async function keepAccount(claim: ConnectAttempt, grant: OAuthGrant, signal: AbortSignal): Promise<string> {
    const { login } = await ports.gitAccounts.user(grant.token, signal);
    const { organizationId, userId } = claim;
    await ports.oauthAccounts.put({ organizationId, userId, login, connectedAt: ports.clock.now() }, grant);
    return login;
  }
}

/** The clocks of the git host and of this server may differ by this much. */
const CLOCK_SKEW_MS = 60_000;

function notTheirs(): Failure {
  return invalid(
    "installation_not_found",
    "Cannot connect this installation: the git host does not list it among yours. Start again in Slipway",
  );
}
