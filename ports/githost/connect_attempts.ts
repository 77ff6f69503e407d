import type { DeviceStatus } from "../../domain/githost/device_status.ts";
import type { Secret } from "../../domain/secret.ts";

/** A connection that a user has begun on the git host and not completed yet. */
export interface ConnectAttempt {
  /** The SHA-256 of the `state` that the git host returns, in hex. */
  readonly stateHash: string;
  readonly organizationId: string;
  readonly userId: string;
  /** The installation to verify once the user has authorized; `null` while there is none. */
  readonly installationId: number | null;
  readonly startedAt: Date;
  readonly expiresAt: Date;
}

/** A login on another device that has not completed yet. */
export interface DeviceAttempt {
  readonly organizationId: string;
  readonly userId: string;
  readonly deviceCode: Secret;
  readonly userCode: string;
  readonly verificationUri: string;
  readonly intervalSeconds: number;
  /** When the git host may be asked again. */
  readonly nextCheckAt: Date;
  readonly expiresAt: Date;
  readonly status: DeviceStatus;
}

/**
 * Stores attempts to connect the git host. Device codes are encrypted at rest. Attempts of a user who leaves the
 * organization are forgotten.
 */
export interface ConnectAttempts {
  put(attempt: ConnectAttempt): Promise<void>;
  /** Returns an attempt that has not expired. */
  find(stateHash: string, now: Date): Promise<ConnectAttempt | undefined>;
  /** Returns an attempt and forgets it: of several callers with one state, one gets it. Never an expired one. */
  take(stateHash: string, now: Date): Promise<ConnectAttempt | undefined>;
  /** Stores a device login; it replaces a former one of the same user and organization. */
  putDevice(attempt: DeviceAttempt): Promise<void>;
  device(organizationId: string, userId: string): Promise<DeviceAttempt | undefined>;
  /**
   * Returns a pending device login whose next check is due, and moves that check by its interval: of several callers,
   * one gets it. Expired ones become `expired` instead.
   */
  takeDueDevice(now: Date): Promise<DeviceAttempt | undefined>;
  /** Records the outcome of a check, if the attempt still has this user code and is pending. */
  settleDevice(
    attempt: Pick<DeviceAttempt, "organizationId" | "userId" | "userCode">,
    outcome: Pick<DeviceAttempt, "status" | "intervalSeconds" | "nextCheckAt">,
  ): Promise<void>;
  /** Removes what expired before this time. Returns how many were removed. */
  sweep(before: Date): Promise<number>;
}
