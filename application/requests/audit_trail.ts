import { newId } from "../../domain/id.ts";
import type { Principal } from "../../domain/permission.ts";
import type { AuditEntry, AuditLog, AuditOutcome } from "../../ports/audit_log.ts";
import type { Clock } from "../../ports/clock.ts";

/** A change that is about to be tried. */
export interface Attempted {
  readonly by: Pick<Principal, "organizationId" | "userId">;
  readonly credential: AuditEntry["credential"];
  readonly action: string;
  readonly target: string | null;
  readonly from: string;
  readonly requestId: string;
}

/** Writes the audit log around a change: the attempt is stored before it happens, so that no change is without an entry. */
export function auditTrail({ auditLog, clock }: { readonly auditLog: AuditLog; readonly clock: Clock }) {
  return {
    async begin({ by, ...attempted }: Attempted): Promise<string> {
      const at = clock.now();
      const id = newId("aud", at);
      const { organizationId, userId } = by;
      await auditLog.record({ id, organizationId, userId, ...attempted, at, outcome: "started" });
      return id;
    },
    async end(id: string, outcome: AuditOutcome, target: string | null): Promise<void> {
      await auditLog.finish(id, { outcome, target });
    },
  };
}

export type AuditTrail = ReturnType<typeof auditTrail>;
