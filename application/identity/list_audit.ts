import type { Page } from "../../domain/page.ts";
import { demand, type Principal } from "../../domain/identity/permission.ts";
import type { AuditFilter, AuditLog } from "../../ports/identity/audit_log.ts";

/** Lists the audit log of the caller's organization. */
export function listAudit({ auditLog }: { readonly auditLog: AuditLog }) {
  return async function (by: Principal, filter: AuditFilter, page: Page) {
    demand(by, "member:read");
    return auditLog.list(by.organizationId, filter, page);
  };
}
