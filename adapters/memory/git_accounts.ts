import { hostNotConfigured, loginExpired } from "../../domain/githost/host_failures.ts";
import type { HostInstallation } from "../../domain/githost/app_installation.ts";
import type { OAuthGrant } from "../../domain/githost/oauth_grant.ts";
import type { GitAccount } from "../../domain/githost/repository.ts";
import { Secret } from "../../domain/secret.ts";
import type { DeviceLogin, DeviceLoginState, GitAccounts } from "../../ports/githost/git_accounts.ts";
import type { HostAccess } from "../../ports/githost/host_access.ts";
import { copied } from "./copied.ts";
import type { MemoryGitHostState } from "./git_host.ts";

/** The accounts of a git host in memory. */
export class MemoryGitAccounts implements GitAccounts {
  readonly #host: MemoryGitHostState;

  constructor(host: MemoryGitHostState) {
    this.#host = host;
  }

  async user(token: Secret, signal: AbortSignal): Promise<GitAccount & { readonly scopes: readonly string[] }> {
    this.#host.enter(signal);
    const { login, scopes } = this.#host.owner(token);
    return { ...this.#account(login), scopes: [...scopes] };
  }

  async list(access: HostAccess, signal: AbortSignal): Promise<readonly GitAccount[]> {
    this.#host.enter(signal);
    if (access.kind === "installation") return [copied(this.#host.installation(access.installationId).account)];
    const { login } = this.#host.owner(access.token);
    const all = [...this.#host.accounts.values()];
    const organizations = all.filter((account) => this.#host.role(account.login, login) !== undefined);
    return copied([this.#account(login), ...organizations]);
  }

  async installation(id: number, signal: AbortSignal): Promise<HostInstallation | undefined> {
    this.#host.enter(signal);
    const found = this.#host.installations.get(id);
    if (!found) return undefined;
    const { account, createdAt, suspended } = found;
    return copied({ id, account, createdAt, suspended });
  }

  async installationsOf(token: Secret, signal: AbortSignal): Promise<readonly number[]> {
    this.#host.enter(signal);
    const { login } = this.#host.owner(token);
    const isOwn = (account: string) =>
      account.toLowerCase() === login.toLowerCase() || this.#host.role(account, login) !== undefined;
    return [...this.#host.installations.values()].filter(({ account }) => isOwn(account.login)).map(({ id }) => id);
  }

  async exchangeCode(code: string, _redirectUrl: string, signal: AbortSignal): Promise<OAuthGrant> {
    this.#host.enter(signal);
    return this.#grantOnce(this.#host.codes, code);
  }

  async refresh(refreshToken: Secret, signal: AbortSignal): Promise<OAuthGrant> {
    this.#host.enter(signal);
    return this.#grantOnce(this.#host.refreshTokens, refreshToken.reveal());
  }

  async startDeviceLogin(signal: AbortSignal): Promise<DeviceLogin> {
    this.#host.enter(signal);
    const [number, deviceCode] = [this.#host.number(), new Secret(`device-${this.#host.number()}`)];
    const userCode = `CODE-${number}`;
    this.#host.devices.set(deviceCode.reveal(), { userCode, state: "pending" });
    const verificationUri = `${this.#host.webUrl}/login/device`;
    return { deviceCode, userCode, verificationUri, intervalSeconds: 5, expiresInSeconds: 900 };
  }

  async checkDeviceLogin(deviceCode: Secret, signal: AbortSignal): Promise<DeviceLoginState> {
    this.#host.enter(signal);
    const device = this.#host.devices.get(deviceCode.reveal());
    if (!device) throw loginExpired();
    if (device.state === "pending") return { status: "pending", intervalSeconds: null };
    if (typeof device.state === "string") return { status: device.state };
    this.#host.devices.delete(deviceCode.reveal());
    return { status: "complete", grant: this.#host.grant(device.state.login) };
  }

  #account(login: string): GitAccount {
    const account = this.#host.accounts.get(login.toLowerCase());
    if (!account) throw hostNotConfigured(`the simulated host has no account "${login}"`);
    return copied(account);
  }

  #grantOnce(grants: Map<string, string>, key: string): OAuthGrant {
    const login = grants.get(key);
    if (login === undefined) throw loginExpired();
    grants.delete(key);
    return this.#host.grant(login);
  }
}
