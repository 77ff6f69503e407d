import { notFound } from "../../../domain/failure.ts";
import { isId } from "../../../domain/id.ts";
import type { Principal } from "../../../domain/identity/permission.ts";
import type { UploadFiles } from "../../../ports/projects/upload_files.ts";
import type { UploadSessions } from "../../../ports/projects/upload_sessions.ts";

export interface DiscardUploadSessionPorts {
  readonly uploadFiles: UploadFiles;
  readonly uploadSessions: UploadSessions;
}

/** Removes the caller's own unused upload session with its files and aborts an upload into it. Others are not found. */
export function discardUploadSession({ uploadFiles, uploadSessions }: DiscardUploadSessionPorts) {
  return async function (by: Principal, id: string): Promise<void> {
    const removed = isId("upl", id) && (await uploadSessions.remove(by.organizationId, by.userId, id));
    if (!removed) throw notFound("upload session");
    await uploadFiles.discard(id);
  };
}
