import { newId } from "../../domain/id.ts";
import type { Principal } from "../../domain/identity/permission.ts";
import type { AuditEntry, AuditLog, AuditOutcome } from "../../ports/identity/audit_log.ts";
import type { Clock } from "../../ports/system/clock.ts";

/** Where a change comes from. */
export interface Origin {
  /** The caller's address. */
  readonly from: string;
  readonly requestId: string;
}

/** A change that is about to be tried. */
export interface Attempted extends Origin {
  readonly by: Pick<Principal, "organizationId" | "userId">;
  readonly credential: AuditEntry["credential"];
  readonly action: string;
  readonly target: string | null;
  /** Names of what it sets or deletes. Defaults to none. */
  readonly changed?: readonly string[];
}

/** Writes the audit log around a change: the attempt is stored before it happens, so that no change is without an entry. */
export function auditTrail({ auditLog, clock }: { readonly auditLog: AuditLog; readonly clock: Clock }) {
  async function begin({ by, changed = [], ...attempted }: Attempted): Promise<string> {
    const at = clock.now();
    const id = newId("aud", at);
    const { organizationId, userId } = by;
    await auditLog.record({ id, organizationId, userId, ...attempted, changed, at, outcome: "started" });
    return id;
  }

  async function end(id: string, outcome: AuditOutcome, target: string | null): Promise<void> {
    await auditLog.finish(id, { outcome, target });
  }

  /** Makes a change inside its entry. */
  async function around<T>(attempted: Attempted, change: () => Promise<T>): Promise<T> {
    const id = await begin(attempted);
    let result: T;
    try {
      result = await change();
    } catch (error) {
      // Whoever asked has to hear of the first failure.
      await end(id, "failed", attempted.target).catch(() => {});
      throw error;
    }
    await end(id, "succeeded", attempted.target);
    return result;
  }

  return { begin, end, around };
}

export type AuditTrail = ReturnType<typeof auditTrail>;
