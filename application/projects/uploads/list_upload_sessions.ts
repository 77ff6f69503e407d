import type { Page } from "../../../domain/page.ts";
import type { Principal } from "../../../domain/identity/permission.ts";
import type { UploadSessions } from "../../../ports/projects/upload_sessions.ts";

/** Lists the caller's own upload sessions that neither expired nor were deployed, newest first. */
export function listUploadSessions({ uploadSessions }: { readonly uploadSessions: UploadSessions }) {
  return function (by: Principal, page: Page) {
    return uploadSessions.list(by.organizationId, by.userId, page);
  };
}
