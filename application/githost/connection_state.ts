import type { OAuthAccount } from "../../domain/githost/oauth_account.ts";
import type { GitAccount, GitHostSource } from "../../domain/githost/repository.ts";
import type { Principal } from "../../domain/identity/permission.ts";
import type { GitAccounts } from "../../ports/githost/git_accounts.ts";
import { commandLineToken, type UsableSourcesPorts } from "./usable_sources.ts";

export interface ConnectionStatePorts extends UsableSourcesPorts {
  readonly gitAccounts: GitAccounts;
}

/** Which sources connect an organization with the git host, as one of its members sees it. */
export interface ConnectionState {
  readonly connected: boolean;
  readonly primary: GitHostSource | null;
  readonly sources: {
    readonly app: { readonly connected: boolean; readonly installations: readonly InstallationState[] };
    readonly oauth: { readonly connected: boolean; readonly login: string | null };
    readonly cli: { readonly available: boolean; readonly login: string | null };
  };
}

/** An app installation in the state of a connection. */
export interface InstallationState {
  readonly id: number;
  readonly account: GitAccount;
  readonly suspended: boolean;
}

/** Returns the state of the connection from what is stored; asks the git host only who the command-line client is. */
export function connectionState(ports: ConnectionStatePorts) {
  const commandLine = commandLineToken(ports);
  return async function (by: Principal, signal: AbortSignal): Promise<ConnectionState> {
    const [stored, accounts, token] = await Promise.all([
      ports.appInstallations.list(by.organizationId),
      ports.oauthAccounts.list(by.organizationId),
      commandLine(by.organizationId, signal),
    ]);
    const installations = stored.map(({ id, account, suspended }) => ({ id, account, suspended }));
    const app = { connected: installations.some(({ suspended }) => !suspended), installations };
    const account = accountFor(accounts, by);
    const oauth = { connected: account !== undefined, login: account?.login ?? null };
    // The state is known without the host, so its failure hides only the name.
    const login = token && (await ports.gitAccounts.user(token, signal).catch(() => undefined))?.login;
    const cli = { available: token !== undefined, login: login ?? null };
    const primary = app.connected ? "app" : oauth.connected ? "oauth" : cli.available ? "cli" : null;
    return { connected: primary !== null, primary, sources: { app, oauth, cli } };
  };
}

/** Returns the member's own OAuth account, else the one that serves the whole organization. */
function accountFor(accounts: readonly OAuthAccount[], { userId }: Principal): OAuthAccount | undefined {
  return accounts.find((account) => account.userId === userId) ?? accounts[0];
}
