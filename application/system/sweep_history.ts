import type { AuditLog } from "../../ports/identity/audit_log.ts";
import type { Clock } from "../../ports/system/clock.ts";
import type { Invitations } from "../../ports/identity/invitations.ts";
import type { Tokens } from "../../ports/identity/tokens.ts";

const DAY_MS = 24 * 3_600_000;
const TOKEN_DAYS = 30;
const AUDIT_DAYS = 400;

export interface SweepHistoryPorts {
  readonly auditLog: AuditLog;
  readonly clock: Clock;
  readonly invitations: Invitations;
  readonly tokens: Tokens;
}

/** Removes expired invitations, tokens 30 days after they end, and audit entries after 400 days. */
export function sweepHistory({ auditLog, clock, invitations, tokens }: SweepHistoryPorts) {
  return async function (): Promise<void> {
    const now = clock.now().getTime();
    await invitations.sweep(new Date(now));
    await tokens.sweep(new Date(now - TOKEN_DAYS * DAY_MS));
    const oldest = new Date(now - AUDIT_DAYS * DAY_MS);
    while ((await auditLog.sweep(oldest)) > 0);
  };
}
