import type { HostInstallation } from "../../domain/githost/app_installation.ts";
import type { OAuthGrant } from "../../domain/githost/oauth_grant.ts";
import type { GitAccount } from "../../domain/githost/repository.ts";
import type { Secret } from "../../domain/secret.ts";
import type { HostAccess } from "./host_access.ts";

/** A login on another device that has begun: the user types the code in on the verification page. */
export interface DeviceLogin {
  readonly deviceCode: Secret;
  readonly userCode: string;
  readonly verificationUri: string;
  readonly intervalSeconds: number;
  readonly expiresInSeconds: number;
}

/** The state of a login on another device. */
export type DeviceLoginState =
  | { readonly status: "complete"; readonly grant: OAuthGrant }
  /** Ask again after this many seconds. */
  | { readonly status: "pending"; readonly intervalSeconds: number | null }
  | { readonly status: "denied" | "expired" };

/**
 * Accounts of the git host, and logging in to it. Every method rejects as those of `GitRepositories` do; a code, a
 * refresh token or an installation that the host does not know is `invalid`, code `githost_login_expired`.
 */
export interface GitAccounts {
  /** Returns the user that a token belongs to, and the scopes of the token, which are empty where the host names none. */
  user(token: Secret, signal: AbortSignal): Promise<GitAccount & { readonly scopes: readonly string[] }>;
  /** Returns the accounts whose repositories this access can see: the user and its organizations, or the app's account. */
  list(access: HostAccess, signal: AbortSignal): Promise<readonly GitAccount[]>;
  /** Returns an installation of the app; `undefined` if there is none with this id. */
  installation(id: number, signal: AbortSignal): Promise<HostInstallation | undefined>;
  /** Returns the ids of the app's installations that a user may manage or use. */
  installationsOf(token: Secret, signal: AbortSignal): Promise<readonly number[]>;
  /** Exchanges the code of a callback for the user's tokens. */
  exchangeCode(code: string, redirectUrl: string, signal: AbortSignal): Promise<OAuthGrant>;
  refresh(refreshToken: Secret, signal: AbortSignal): Promise<OAuthGrant>;
  startDeviceLogin(signal: AbortSignal): Promise<DeviceLogin>;
  checkDeviceLogin(deviceCode: Secret, signal: AbortSignal): Promise<DeviceLoginState>;
}
