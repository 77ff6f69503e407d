import { notFound } from "../../domain/failure.ts";
import type { Principal } from "../../domain/identity/permission.ts";
import type { GitAccounts } from "../../ports/githost/git_accounts.ts";
import type { GitHostSettings } from "./git_host_settings.ts";
import type { CommandLineLogin } from "../../ports/githost/command_line_login.ts";
import type { Installation } from "../../ports/identity/installation.ts";

export interface LocalStatusPorts {
  readonly commandLineLogin: CommandLineLogin;
  readonly gitAccounts: GitAccounts;
  readonly gitHost: GitHostSettings;
  readonly installation: Installation;
}

/** Whether the git host's command-line client is logged in on this machine, and as whom. */
export interface LocalStatus {
  readonly available: boolean;
  readonly login: string | null;
  readonly scopes: readonly string[];
}

const ABSENT: LocalStatus = { available: false, login: null, scopes: [] };

/**
 * Returns the login of the command-line client, also while the organization has disconnected it. Other organizations than
 * that of the first owner see none. Missing in cloud mode.
 */
export function localStatus({ commandLineLogin, gitAccounts, gitHost, installation }: LocalStatusPorts) {
  return async function (by: Principal, signal: AbortSignal): Promise<LocalStatus> {
    if (gitHost.mode === "cloud") throw notFound("route");
    if ((await installation.organizationId()) !== by.organizationId) return ABSENT;
    const token = await commandLineLogin.token(signal);
    if (!token) return ABSENT;
    const { login, scopes } = await gitAccounts.user(token, signal);
    return { available: true, login, scopes };
  };
}
