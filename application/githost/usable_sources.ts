import { Failure, invalid } from "../../domain/failure.ts";
import type { OAuthAccount } from "../../domain/githost/oauth_account.ts";
import type { GitAccount, GitHostSource } from "../../domain/githost/repository.ts";
import type { CommandLineLogin } from "../../ports/githost/command_line_login.ts";
import type { GitHostChoices } from "../../ports/githost/git_host_choices.ts";
import type { HostAccess } from "../../ports/githost/host_access.ts";
import type { AppInstallations } from "../../ports/githost/app_installations.ts";
import type { Installation } from "../../ports/identity/installation.ts";
import { freshGrant, type FreshGrantPorts } from "./fresh_grant.ts";

export interface UsableSourcesPorts extends FreshGrantPorts {
  readonly commandLineLogin: CommandLineLogin;
  readonly gitHostChoices: GitHostChoices;
  readonly installation: Installation;
  readonly appInstallations: AppInstallations;
  readonly mode: "self-hosted" | "cloud";
}

/** One way to reach the git host. */
export interface UsableSource {
  readonly source: GitHostSource;
  readonly access: HostAccess;
  /** The account that the app is installed on. */
  readonly account?: GitAccount;
  /** Whether it is the caller's own or the organization's, not another member's. */
  readonly isOwn: boolean;
}

/** Who uses the git host: a member, or a build of a project that no member waits for. */
export interface SourceUser {
  readonly organizationId: string;
  readonly userId: string | null;
}

/**
 * Returns how a member reaches the git host, in order of preference: the organization's app installations, the member's
 * own OAuth account, the command-line client's login, the OAuth accounts of other members. Leaves out accounts whose login
 * has expired, unless nothing else is left: then it rejects with that.
 */
export function usableSources(ports: UsableSourcesPorts) {
  const grantOf = freshGrant(ports);
  const commandLine = commandLineToken(ports);
  return async function (
    { organizationId, userId }: SourceUser,
    signal: AbortSignal,
  ): Promise<readonly UsableSource[]> {
    const [installations, accounts, login] = await Promise.all([
      ports.appInstallations.list(organizationId),
      ports.oauthAccounts.list(organizationId),
      commandLine(organizationId, signal),
    ]);
    let expired: unknown;
    const sources: UsableSource[] = installations
      .filter(({ suspended }) => !suspended)
      .map(({ id, account }) => {
        return { source: "app", access: { kind: "installation", installationId: id }, account, isOwn: true };
      });
    const own = accounts.filter((account) => account.userId === userId);
    sources.push(...(await ofAccounts(own, true)));
    if (login) sources.push({ source: "cli", access: { kind: "token", token: login }, isOwn: true });
    sources.push(
      ...(await ofAccounts(
        accounts.filter((account) => !own.includes(account)),
        false,
      )),
    );
    if (sources.length === 0 && expired) throw expired;
    return sources;

    async function ofAccounts(those: readonly OAuthAccount[], isOwn: boolean): Promise<readonly UsableSource[]> {
      const grants = await Promise.all(those.map((account) => grantOf(account, signal).catch(noteExpired)));
      return grants.flatMap((grant) =>
        grant ? [{ source: "oauth" as const, access: { kind: "token" as const, token: grant.token }, isOwn }] : [],
      );
    }

    function noteExpired(error: unknown): undefined {
      if (!isLoginExpired(error)) throw error;
      expired ??= error;
    }
  };
}

/** Returns whether an error means that the git host does not accept a login any more. */
export function isLoginExpired(error: unknown): boolean {
  return error instanceof Failure && error.code === "githost_login_expired";
}

/**
 * Returns the token of the command-line client for an organization. It belongs to the operator, so it serves only the
 * organization that came with the installation, as long as that has not disconnected it, and never the hosted cloud.
 */
export function commandLineToken({
  commandLineLogin,
  gitHostChoices,
  installation,
  mode,
}: Pick<UsableSourcesPorts, "commandLineLogin" | "gitHostChoices" | "installation" | "mode">) {
  return async function (organizationId: string, signal: AbortSignal) {
    if (mode === "cloud" || (await installation.organizationId()) !== organizationId) return undefined;
    if (await gitHostChoices.isCommandLineOff(organizationId)) return undefined;
    return commandLineLogin.token(signal);
  };
}

/** The failure of a request that needs the git host while it is not connected. */
export function notConnected(): Failure {
  const advice = "Connect it with POST /api/githost/connect";
  return invalid("githost_not_connected", `Cannot use the git host: it is not connected. ${advice}`);
}
