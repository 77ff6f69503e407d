import { type Failure, invalid } from "../../domain/failure.ts";
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
  readonly isShared: boolean;
}

/** Who uses the git host: a member, or a build of a project that no member waits for. */
export interface SourceUser {
  readonly organizationId: string;
  readonly userId: string | null;
}

/**
 * Returns how a member reaches the git host, in order of preference: the organization's app installations, the member's
 * own OAuth account, the command-line client's login. Without any of these, the oldest OAuth account of another member.
 */
export function usableSources(ports: UsableSourcesPorts) {
  const grantOf = freshGrant(ports);
  const commandLine = commandLineToken(ports);
  return async function (user: SourceUser, signal: AbortSignal): Promise<readonly UsableSource[]> {
    const { organizationId, userId } = user;
    const apps = (await ports.appInstallations.list(organizationId))
      .filter(({ suspended }) => !suspended)
      .map(({ id, account }): UsableSource => {
        return { source: "app", access: { kind: "installation", installationId: id }, account, isShared: true };
      });
    const accounts = await ports.oauthAccounts.list(organizationId);
    const own = accounts.find((account) => account.userId === userId);
    const login = await commandLine(organizationId, signal);
    const sources = [
      ...apps,
      ...(own ? await ofAccount(own, true) : []),
      ...(login ? [{ source: "cli" as const, access: { kind: "token" as const, token: login }, isShared: true }] : []),
    ];
    const [oldest] = accounts;
    return sources.length > 0 || !oldest ? sources : ofAccount(oldest, false);

    async function ofAccount(account: (typeof accounts)[number], isShared: boolean): Promise<readonly UsableSource[]> {
      const grant = await grantOf(account, signal);
      return grant ? [{ source: "oauth", access: { kind: "token", token: grant.token }, isShared }] : [];
    }
  };
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
