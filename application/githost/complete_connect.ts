import { invalid } from "../../domain/failure.ts";
import type { OAuthGrant } from "../../domain/githost/oauth_grant.ts";
import type { Principal } from "../../domain/identity/permission.ts";
import type { ConnectAttempt } from "../../ports/githost/connect_attempts.ts";
import type { OAuthAccounts } from "../../ports/githost/oauth_accounts.ts";
import type { Organizations } from "../../ports/identity/organizations.ts";
import type { Users } from "../../ports/identity/users.ts";
import { badState, findConnectAttempt, takeConnectAttempt } from "./connect_state.ts";
import { connectedEntry } from "./host_audit.ts";
import type { Origin } from "../system/audit_trail.ts";
import { callbackUrl } from "./git_host_settings.ts";
import { mayConnectGitHost, type MayConnectPorts } from "./may_connect_git_host.ts";
import { verifyInstallation, type VerifyInstallationPorts } from "./verify_installation.ts";

export interface CompleteConnectPorts extends MayConnectPorts, VerifyInstallationPorts {
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
  readonly origin: Origin;
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
  const connectInstallation = verifyInstallation(ports);
  return async function (
    callback: ConnectCallback,
    visitor: ConnectVisitor,
    signal: AbortSignal,
  ): Promise<ConnectOutcome> {
    const { state } = callback;
    if (state === undefined) throw badState("it was not started in Slipway");
    const claim = await findConnectAttempt(ports, state);
    if (!(await mayConnectGitHost(ports, claim)))
      throw badState("who started this may not connect the git host any more");
    if (callback.error !== undefined) {
      await takeConnectAttempt(ports, state);
      throw invalid("connect_denied", "Cannot connect the git host: it was not allowed there. Start again in Slipway");
    }
    const isUser = visitor.session?.userId === claim.userId;
    if (!isUser && !visitor.confirmed) return { next: "confirm", ...(await namesOf(claim)) };
    await takeConnectAttempt(ports, state);
    const installationId = callback.installationId ?? claim.installationId ?? undefined;
    if (installationId !== undefined)
      return connectInstallation(installationId, { code: callback.code, claim, origin: visitor.origin }, signal);
    if (callback.code === undefined) throw badState("the git host sent neither a code nor an installation");
    const grant = await ports.gitAccounts.exchangeCode(callback.code, callbackUrl(ports.gitHost), signal);
    return { next: "connected", account: await keepAccount(claim, grant, visitor.origin, signal) };
  };

  async function namesOf({ organizationId, userId }: ConnectAttempt) {
    const { items } = await ports.organizations.list([organizationId], { page: 1, perPage: 1 });
    const user = await ports.users.find(userId);
    return { organization: items[0]?.name ?? organizationId, user: user?.name || user?.email || userId };
  }

  async function keepAccount(
    { organizationId, userId }: ConnectAttempt,
    grant: OAuthGrant,
    origin: Origin,
    signal: AbortSignal,
  ): Promise<string> {
    const { login } = await ports.gitAccounts.user(grant.token, signal);
    const account = { organizationId, userId, login, connectedAt: ports.clock.now() };
    await ports.auditTrail.around(connectedEntry(account, login, origin), () =>
      ports.oauthAccounts.put(account, grant),
    );
    return login;
  }
}
