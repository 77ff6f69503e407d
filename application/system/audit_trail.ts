import { newId } from "../../domain/id.ts";
import type { Principal } from "../../domain/identity/permission.ts";
import type { AuditEntry, AuditLog, AuditOutcome } from "../../ports/identity/audit_log.ts";
import type { Clock } from "../../ports/system/clock.ts";

/** The origin of a change. */
export interface Origin {
  /** The client's IP address. */
  readonly from: string;
  readonly requestId: string;
}

/** A change that is about to be attempted. */
export interface Attempted extends Origin {
  readonly by: Pick<Principal, "organizationId" | "userId" | "actingFor">;
  readonly credential: AuditEntry["credential"];
  readonly action: string;
  readonly target: string | null;
  /** Names of the fields that it sets or deletes. Defaults to none. */
  readonly changed?: readonly string[];
}

/** Writes the audit log around a change. Stores the attempt before the change, so that every change has an entry. */
export function auditTrail({ auditLog, clock }: { readonly auditLog: AuditLog; readonly clock: Clock }) {
  async function begin({ by, changed = [], ...attempted }: Attempted): Promise<string> {
    const at = clock.now();
    const id = newId("aud", at);
    const { organizationId, userId, actingFor = null } = by;
    await auditLog.record({ id, organizationId, userId, actingFor, ...attempted, changed, at, outcome: "started" });
    return id;
  }

  async function end(id: string, outcome: AuditOutcome, target: string | null): Promise<void> {
    await auditLog.finish(id, { outcome, target });
  }

  /** Makes a change between the begin and the end of its entry. */
  async function around<T>(attempted: Attempted, change: () => Promise<T>): Promise<T> {
    const id = await begin(attempted);
    let result: T;
    try {
      result = await change();
    } catch (error) {
      // The caller must get this failure, not one of writing the audit entry.
      await end(id, "failed", attempted.target).catch(() => {});
      throw error;
    }
    await end(id, "succeeded", attempted.target);
    return result;
  }

  return { begin, end, around };
}

export type AuditTrail = ReturnType<typeof auditTrail>;
