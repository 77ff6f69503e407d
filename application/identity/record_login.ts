import type { Organizations } from "../../ports/identity/organizations.ts";
import type { AuditTrail, Origin } from "../system/audit_trail.ts";

export interface RecordLoginPorts {
  readonly auditTrail: AuditTrail;
  readonly organizations: Organizations;
}

/** Writes logins to the audit log of every organization that the user is a member of. */
export function recordLogin({ auditTrail, organizations }: RecordLoginPorts) {
  async function attempts(userId: string, sessionId: string | null, origin: Origin) {
    const { items } = await organizations.listOf(userId, { page: 1, perPage: 100 });
    return items.map(({ id: organizationId }) => ({
      by: { organizationId, userId },
      credential: { kind: "password", id: userId } as const,
      action: "auth.login",
      target: sessionId,
      ...origin,
    }));
  }

  return {
    /** Opens a session between the begin and the end of its audit entries, so that no session exists without them. */
    async opening(
      session: { readonly id: string; readonly userId: string },
      origin: Origin,
      open: () => Promise<void>,
    ) {
      let run = open;
      for (const attempted of await attempts(session.userId, session.id, origin)) {
        const inner = run;
        run = () => auditTrail.around(attempted, inner);
      }
      await run();
    },
    /** Records a failed login. */
    async refused(userId: string, origin: Origin) {
      for (const attempted of await attempts(userId, null, origin)) {
        await auditTrail.end(await auditTrail.begin(attempted), "refused", null);
      }
    },
  };
}
