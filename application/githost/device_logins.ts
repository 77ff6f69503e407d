import { notFound } from "../../domain/failure.ts";
import { loggedError } from "../../domain/logged_error.ts";
import type { Principal } from "../../domain/identity/permission.ts";
import type { ConnectAttempts, DeviceAttempt } from "../../ports/githost/connect_attempts.ts";
import type { GitAccounts } from "../../ports/githost/git_accounts.ts";
import type { OAuthAccounts } from "../../ports/githost/oauth_accounts.ts";
import type { Clock } from "../../ports/system/clock.ts";
import type { Log } from "../../ports/system/log.ts";
import type { AuditTrail } from "../system/audit_trail.ts";
import { connectedEntry } from "./host_audit.ts";
import type { GitHostSettings } from "./git_host_settings.ts";
import { mayConnectGitHost, type MayConnectPorts } from "./may_connect_git_host.ts";

export interface DeviceLoginPorts extends MayConnectPorts {
  readonly auditTrail: AuditTrail;
  readonly clock: Clock;
  readonly connectAttempts: ConnectAttempts;
  readonly gitAccounts: GitAccounts;
  readonly log: Log;
  readonly oauthAccounts: OAuthAccounts;
}

/** Returns the status of the caller's login on another device. Missing in cloud mode, which has no such logins. */
export function pollConnect({
  connectAttempts,
  gitHost,
}: {
  readonly connectAttempts: ConnectAttempts;
  readonly gitHost: GitHostSettings;
}) {
  return async function (by: Principal): Promise<DeviceAttempt["status"] | "none"> {
    if (gitHost.mode === "cloud") throw notFound("route");
    return (await connectAttempts.device(by.organizationId, by.userId))?.status ?? "none";
  };
}

/**
 * Asks the git host about every device login whose time has come, and stores the accounts of those that have completed.
 * Several processes share the work. A git host that fails is asked again at the next interval.
 */
export function checkDeviceLogins(ports: DeviceLoginPorts) {
  const { clock, connectAttempts, gitAccounts, log, oauthAccounts } = ports;
  return async function (signal: AbortSignal): Promise<void> {
    for (;;) {
      const attempt = await connectAttempts.takeDueDevice(clock.now());
      if (!attempt || signal.aborted) return;
      await checked(attempt, signal).catch((error: unknown) => {
        if (!signal.aborted)
          log.write("warn", "A login on another device could not be checked", { ...loggedError(error) });
      });
    }
  };

  async function checked(attempt: DeviceAttempt, signal: AbortSignal): Promise<void> {
    const state = await gitAccounts.checkDeviceLogin(attempt.deviceCode, signal);
    const { organizationId, userId } = attempt;
    const intervalSeconds =
      state.status === "pending" ? (state.intervalSeconds ?? attempt.intervalSeconds) : attempt.intervalSeconds;
    const nextCheckAt = new Date(clock.now().getTime() + intervalSeconds * 1_000);
    const settle = (status: DeviceAttempt["status"]) =>
      connectAttempts.settleDevice(attempt, { status, intervalSeconds, nextCheckAt });
    if (state.status !== "complete") return settle(state.status);
    if (!(await mayConnectGitHost(ports, attempt))) return settle("denied");
    try {
      const { login } = await gitAccounts.user(state.grant.token, signal);
      const kept = { organizationId, userId, login, connectedAt: clock.now() };
      await ports.auditTrail.around(connectedEntry(attempt, login), () => oauthAccounts.put(kept, state.grant));
    } catch (error) {
      // The code works once: the user has to start again.
      await settle("expired");
      throw error;
    }
    await settle("complete");
  }
}
