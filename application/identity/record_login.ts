import type { Organizations } from "../../ports/organizations.ts";
import type { AuditTrail } from "../requests/audit_trail.ts";

/** A login as the audit log tells it. */
export interface Login {
  readonly userId: string;
  readonly sessionId: string;
  readonly from: string;
  readonly requestId: string;
}

/** Enters a login in the audit log of every organization that the person can now act in. */
export function recordLogin({
  auditTrail,
  organizations,
}: {
  readonly auditTrail: AuditTrail;
  readonly organizations: Organizations;
}) {
  return async function ({ userId, sessionId, from, requestId }: Login): Promise<void> {
    const { items } = await organizations.listOf(userId, { page: 1, perPage: 100 });
    for (const { id: organizationId } of items) {
      const by = { organizationId, userId };
      const credential = { kind: "password", id: userId } as const;
      const entry = await auditTrail.begin({
        by,
        credential,
        action: "auth.login",
        target: sessionId,
        from,
        requestId,
      });
      await auditTrail.end(entry, "succeeded", sessionId);
    }
  };
}
