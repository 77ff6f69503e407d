import { hostNotConfigured, loginExpired, refusedByHost } from "../../domain/githost/host_failures.ts";
import type { HostInstallation } from "../../domain/githost/app_installation.ts";
import type { OAuthGrant } from "../../domain/githost/oauth_grant.ts";
import type { GitAccount } from "../../domain/githost/repository.ts";
import { Secret } from "../../domain/secret.ts";
import type { DeviceLogin, DeviceLoginState, GitAccounts } from "../../ports/githost/git_accounts.ts";
import type { HostAccess } from "../../ports/githost/host_access.ts";
import type { OctokitClients } from "./octokit_clients.ts";
import { addressIn, secondsIn, textIn } from "./answer_fields.ts";
import { accountFrom, readInstallation } from "./installation_from.ts";
import { grantFrom, oauthProblem } from "./oauth_answers.ts";

const OAUTH_SCOPES: readonly string[] = ["repo", "read:org", "admin:repo_hook"];
/** How often a device login may be asked about, and how long its code is valid, in seconds. */
const POLLED = { least: 1, most: 300, preset: 5 };
const SLOWED = { ...POLLED, preset: 10 };
const VALID = { least: 1, most: 3_600, preset: 900 };
const LOGIN_ACTION = "log in to the git host";

/** The accounts of a git host that octokit reaches. */
export class OctokitAccounts implements GitAccounts {
  readonly #clients: OctokitClients;

  constructor(clients: OctokitClients) {
    this.#clients = clients;
  }

  async user(token: Secret, signal: AbortSignal): Promise<GitAccount & { readonly scopes: readonly string[] }> {
    return await this.#clients.as({ kind: "token", token }, { action: "read the account", signal }, async (call) => {
      const { data, headers } = await call.send(({ rest }, options) => rest.users.getAuthenticated(options));
      const named = (headers as Readonly<Record<string, unknown>>)["x-oauth-scopes"];
      const scopes = typeof named === "string" ? named.split(/[\s,]+/).filter(Boolean) : [];
      return { ...accountFrom(data), scopes };
    });
  }

  async list(access: HostAccess, signal: AbortSignal): Promise<readonly GitAccount[]> {
    const operation = { action: "list the accounts", signal };
    if (access.kind === "installation")
      return [await this.#clients.installationAccount(access.installationId, operation)];
    return await this.#clients.as(access, operation, async (call) => {
      const { data } = await call.send(({ rest }, options) => rest.users.getAuthenticated(options));
      const organizations = await call.list(
        "organizations",
        ({ rest }, options) => rest.orgs.listForAuthenticatedUser(options),
        (page) => page.map((each) => accountFrom({ ...each, type: "Organization" })),
      );
      return [accountFrom(data), ...organizations];
    });
  }

  async installation(id: number, signal: AbortSignal): Promise<HostInstallation | undefined> {
    const operation = { action: "read the installation of the app", signal };
    return await this.#clients.asApp(operation, (call) => readInstallation(call, id));
  }

  async installationsOf(token: Secret, signal: AbortSignal): Promise<readonly number[]> {
    const operation = { action: "list the installations of the app", signal };
    return await this.#clients.as({ kind: "token", token }, operation, (call) =>
      call.list(
        "installations",
        ({ rest }, options) => rest.apps.listInstallationsForAuthenticatedUser(options),
        ({ installations }) => installations.map(({ id }) => id),
      ),
    );
  }

  async exchangeCode(code: string, redirectUrl: string, signal: AbortSignal): Promise<OAuthGrant> {
    const { clientId, clientSecret } = this.#client();
    const secrets = [new Secret(code), clientSecret];
    return await this.#clients.onWeb({ action: LOGIN_ACTION, signal, secrets }, async (request) => {
      const { exchangeWebFlowCode } = await import("@octokit/oauth-methods");
      const client = { clientType: "github-app", clientId, clientSecret: clientSecret.reveal() } as const;
      const { authentication } = await exchangeWebFlowCode({ ...client, code, redirectUrl, request }).catch(refuse);
      return grantFrom(authentication);
    });
  }

  async refresh(refreshToken: Secret, signal: AbortSignal): Promise<OAuthGrant> {
    const { clientId, clientSecret } = this.#oauth();
    const secrets = [refreshToken, ...(clientSecret ? [clientSecret] : [])];
    return await this.#clients.onWeb({ action: LOGIN_ACTION, signal, secrets }, async (request) => {
      const methods = await import("@octokit/oauth-methods");
      // Logins on another device are renewed without a secret; undefined leaves the field out.
      const client = { clientType: "github-app", clientId, clientSecret: clientSecret?.reveal() as string } as const;
      const renewed = methods.refreshToken({ ...client, refreshToken: refreshToken.reveal(), request });
      return grantFrom((await renewed.catch(refuse)).authentication);
    });
  }

  async startDeviceLogin(signal: AbortSignal): Promise<DeviceLogin> {
    const { clientId } = this.#oauth();
    return await this.#clients.onWeb({ action: LOGIN_ACTION, signal }, async (request) => {
      const { createDeviceCode } = await import("@octokit/oauth-methods");
      // The permissions of an app are its own; an OAuth app asks for them.
      const scopes = this.#clients.settings.app ? [] : [...OAUTH_SCOPES];
      const asked = createDeviceCode({ clientType: "oauth-app", clientId, scopes, request });
      const { data } = await asked.catch(refuse);
      return {
        deviceCode: new Secret(textIn(data.device_code)),
        userCode: textIn(data.user_code),
        verificationUri: addressIn(data.verification_uri),
        intervalSeconds: secondsIn(data.interval, POLLED),
        expiresInSeconds: secondsIn(data.expires_in, VALID),
      };
    });
  }

  async checkDeviceLogin(deviceCode: Secret, signal: AbortSignal): Promise<DeviceLoginState> {
    const { clientId } = this.#oauth();
    return await this.#clients.onWeb({ action: LOGIN_ACTION, signal, secrets: [deviceCode] }, async (request) => {
      const { exchangeDeviceCode } = await import("@octokit/oauth-methods");
      const client = { clientType: "github-app", clientId, code: deviceCode.reveal(), request } as const;
      const asked = await exchangeDeviceCode(client).catch((error: unknown) => {
        const problem = oauthProblem(error);
        if (problem?.code === "authorization_pending") return { status: "pending", intervalSeconds: null } as const;
        if (problem?.code === "slow_down")
          return { status: "pending", intervalSeconds: secondsIn(problem.intervalSeconds, SLOWED) } as const;
        if (problem?.code === "expired_token") return { status: "expired" } as const;
        if (problem?.code === "access_denied") return { status: "denied" } as const;
        return refuse(error);
      });
      return "authentication" in asked ? { status: "complete", grant: grantFrom(asked.authentication) } : asked;
    });
  }

  #oauth() {
    const { oauth } = this.#clients.settings;
    if (!oauth) throw hostNotConfigured("the login is not configured. Set GITHOST_CLIENT_ID");
    return oauth;
  }

  #client(): { readonly clientId: string; readonly clientSecret: Secret } {
    const { clientId, clientSecret } = this.#oauth();
    if (!clientSecret) throw hostNotConfigured("the login is not configured. Set GITHOST_CLIENT_SECRET");
    return { clientId, clientSecret };
  }
}

/** Throws what a refusal of OAuth means. */
function refuse(error: unknown): never {
  const problem = oauthProblem(error);
  if (!problem) throw error;
  const { code, words } = problem;
  if (["bad_verification_code", "bad_refresh_token", "incorrect_device_code", "expired_token"].includes(code))
    throw loginExpired({ cause: new Error(code) });
  if (code === "incorrect_client_credentials")
    throw hostNotConfigured("it does not accept the client. Check GITHOST_CLIENT_ID and GITHOST_CLIENT_SECRET");
  throw refusedByHost(LOGIN_ACTION, words, { cause: new Error(code) });
}
