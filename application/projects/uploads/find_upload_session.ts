import { invalid, notFound } from "../../../domain/failure.ts";
import { isId } from "../../../domain/id.ts";
import type { Principal } from "../../../domain/identity/permission.ts";
import type { UploadSession } from "../../../domain/projects/upload.ts";
import type { UploadSessions } from "../../../ports/projects/upload_sessions.ts";

/** Finds the caller's own, unexpired upload session; sessions of other users are not found. */
export function findUploadSession({ uploadSessions }: { readonly uploadSessions: UploadSessions }) {
  return async function (by: Principal, id: string): Promise<UploadSession> {
    const found = isId("upl", id) ? await uploadSessions.find(by.organizationId, id) : undefined;
    if (!found || found.userId !== by.userId) throw notFound("upload session");
    if (found.state !== "used" && found.expired) {
      throw invalid("upload_expired", "Cannot use this upload session: it expired. Open a new one");
    }
    return found;
  };
}
