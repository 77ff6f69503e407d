import { Failure, invalid } from "../../domain/failure.ts";
import { demand, type Principal } from "../../domain/identity/permission.ts";
import type { ConnectAttempts } from "../../ports/githost/connect_attempts.ts";
import { cloudConnectUrl, type CloudConnectPorts } from "./cloud_connect_url.ts";
import { connectState, type ConnectStatePorts } from "./connect_state.ts";
import type { GitHostSettings } from "./git_host_settings.ts";
import { freshGrant } from "./fresh_grant.ts";
import { authorizeUrl, installUrl } from "./host_urls.ts";
import { commandLineToken, isLoginExpired, type UsableSourcesPorts } from "./usable_sources.ts";

export interface ConnectPorts extends UsableSourcesPorts, ConnectStatePorts, CloudConnectPorts {
  readonly connectAttempts: ConnectAttempts;
  readonly gitHost: GitHostSettings;
  /** Begins to ask the git host whether device logins have completed. */
  readonly deviceLoginStarted: () => void;
}

/** What a client does to connect the git host. */
export type ConnectResult =
  | { readonly connected: true }
  | { readonly connected: false; readonly flow: "redirect"; readonly url: string }
  | {
      readonly connected: false;
      readonly flow: "device_code";
      readonly userCode: string;
      readonly verificationUri: string;
      readonly expiresAt: Date;
      readonly interval: number;
    }
  | { readonly connected: false; readonly flow: "terminal"; readonly command: string; readonly message: string };

/** The source that a caller asks for; without one, what the operator has configured decides. */
export type ConnectSource = "oauth" | "cli";

/**
 * Begins to connect the git host. Without a source: the app if it is configured, then OAuth, then the command-line
 * client, then the cloud that the organization is linked to.
 */
export function connect(ports: ConnectPorts) {
  const commandLine = commandLineToken(ports);
  const { gitHost } = ports;
  return async function (
    by: Principal,
    source: ConnectSource | undefined,
    signal: AbortSignal,
  ): Promise<ConnectResult> {
    // For the whole connection: what a member connects serves the organization.
    demand(by, "githost:write");
    if (source === "cli") return byCommandLine(ports, by, signal);
    if (source === "oauth")
      return (await hasLogin(ports, by, signal)) ? { connected: true } : byOAuth(ports, by, signal);
    if (gitHost.app) return (await isInstalled(ports, by, signal)) ? { connected: true } : toInstall(ports, by);
    if (gitHost.oauth) return (await hasLogin(ports, by, signal)) ? { connected: true } : byOAuth(ports, by, signal);
    if (await commandLine(by.organizationId, signal)) return { connected: true };
    const url = await cloudConnectUrl(ports, by.organizationId, signal);
    if (url !== undefined) return { connected: false, flow: "redirect", url };
    return byCommandLine(ports, by, signal);
  };
}

/**
 * Returns whether the member's own OAuth account still works. A git host that fails otherwise says nothing about it, so the
 * account counts.
 */
async function hasLogin(ports: ConnectPorts, { organizationId, userId }: Principal, signal: AbortSignal) {
  const grant = freshGrant(ports);
  return works(async () => {
    const current = await grant({ organizationId, userId }, signal);
    if (current) await ports.gitAccounts.user(current.token, signal);
    return current !== undefined;
  });
}

/** Returns whether the app is installed for the organization, also as the git host sees it. */
async function isInstalled(ports: ConnectPorts, { organizationId }: Principal, signal: AbortSignal) {
  const installations = await ports.appInstallations.list(organizationId);
  for (const { id, suspended } of installations) {
    if (!suspended && (await works(async () => (await ports.gitAccounts.installation(id, signal)) !== undefined)))
      return true;
  }
  return false;
}

async function works(check: () => Promise<boolean>): Promise<boolean> {
  try {
    return await check();
  } catch (error) {
    return !isLoginExpired(error);
  }
}

async function toInstall(ports: ConnectPorts, { userId, organizationId }: Principal): Promise<ConnectResult> {
  const state = await connectState(ports, { userId, organizationId });
  return { connected: false, flow: "redirect", url: installUrl(ports.gitHost, state) };
}

async function byOAuth(ports: ConnectPorts, by: Principal, signal: AbortSignal): Promise<ConnectResult> {
  const { userId, organizationId } = by;
  if (ports.gitHost.oauth?.hasSecret) {
    const state = await connectState(ports, { userId, organizationId });
    return { connected: false, flow: "redirect", url: authorizeUrl(ports.gitHost, state) };
  }
  if (ports.gitHost.oauth) return onDevice(ports, by, signal);
  const url = await cloudConnectUrl(ports, organizationId, signal);
  if (url !== undefined) return { connected: false, flow: "redirect", url };
  throw notConfigured("no OAuth app is configured. Set GITHOST_CLIENT_ID and GITHOST_CLIENT_SECRET");
}

async function onDevice(
  ports: ConnectPorts,
  { userId, organizationId }: Principal,
  signal: AbortSignal,
): Promise<ConnectResult> {
  if (ports.gitHost.mode === "cloud") throw notConfigured("GITHOST_CLIENT_SECRET is not set");
  const { deviceCode, userCode, verificationUri, intervalSeconds, expiresInSeconds } =
    await ports.gitAccounts.startDeviceLogin(signal);
  const now = ports.clock.now().getTime();
  const expiresAt = new Date(now + expiresInSeconds * 1_000);
  await ports.connectAttempts.putDevice({
    organizationId,
    userId,
    deviceCode,
    userCode,
    verificationUri,
    intervalSeconds,
    nextCheckAt: new Date(now + intervalSeconds * 1_000),
    expiresAt,
    status: "pending",
  });
  ports.deviceLoginStarted();
  return {
    connected: false,
    flow: "device_code",
    userCode,
    verificationUri,
    expiresAt,
    interval: intervalSeconds,
  };
}

async function byCommandLine(
  ports: ConnectPorts,
  { organizationId }: Principal,
  signal: AbortSignal,
): Promise<ConnectResult> {
  if (ports.gitHost.mode === "cloud")
    throw notConfigured("neither an app nor an OAuth app is configured (GITHOST_APP_ID, GITHOST_CLIENT_ID)");
  if ((await ports.installation.organizationId()) !== organizationId) {
    throw new Failure(
      "invalid",
      "cli_unavailable",
      "Cannot use the command-line client here: its login belongs to the organization of the installation's first " +
        "owner. Ask the operator to configure an app (GITHOST_APP_ID) or an OAuth app (GITHOST_CLIENT_ID)",
    );
  }
  if (await ports.commandLineLogin.token(signal)) {
    await ports.gitHostChoices.setCommandLineOff(organizationId, false);
    return { connected: true };
  }
  const { host } = new URL(ports.gitHost.webUrl);
  const message =
    "Run this command on the server, as the user that Slipway runs as, then connect again; " +
    "or set GITHOST_TOKEN to a personal access token and restart";
  return { connected: false, flow: "terminal", command: `gh auth login --hostname ${host}`, message };
}

function notConfigured(why: string): Failure {
  return invalid("githost_not_configured", `Cannot connect the git host: ${why}`);
}
