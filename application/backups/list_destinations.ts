import type { Page } from "../../domain/page.ts";
import { type Principal, visibleIds } from "../../domain/identity/permission.ts";
import type { BackupDestinations } from "../../ports/backups/backup_destinations.ts";

/** Lists the backup destinations of the caller's organization that it may see. */
export function listDestinations({ backupDestinations }: { readonly backupDestinations: BackupDestinations }) {
  return function (by: Principal, page: Page) {
    const ids = visibleIds(by, "backup_destination:list");
    return backupDestinations.list(by.organizationId, ids === "all" ? {} : { ids }, page);
  };
}
