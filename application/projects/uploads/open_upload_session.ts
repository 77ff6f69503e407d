import { Failure, invalid } from "../../../domain/failure.ts";
import { newId } from "../../../domain/id.ts";
import { allowsSomewhere, forbidden, type Principal } from "../../../domain/identity/permission.ts";
import { UPLOAD_MS, UPLOAD_QUOTA, type UploadSession } from "../../../domain/projects/upload.ts";
import type { Clock } from "../../../ports/system/clock.ts";
import type { UploadFiles } from "../../../ports/projects/upload_files.ts";
import type { NewUploadSession, UploadSessions } from "../../../ports/projects/upload_sessions.ts";

export interface OpenUploadSessionPorts {
  readonly clock: Clock;
  readonly mode: "self-hosted" | "cloud";
  readonly uploadFiles: UploadFiles;
  readonly uploadSessions: UploadSessions;
}

/**
 * Opens an upload session for one folder, bound to the caller and its organization, for one hour. Beyond the quota it
 * evicts the caller's oldest unused session.
 */
export function openUploadSession({ clock, mode, uploadFiles, uploadSessions }: OpenUploadSessionPorts) {
  return async function (
    by: Principal,
    input: { readonly name?: string; readonly mode?: "local" | "cloud" },
  ): Promise<UploadSession> {
    if (!allowsSomewhere(by, "project:write")) throw forbidden("project:write");
    if (mode === "cloud" && input.mode === "local") {
      throw new Failure(
        "forbidden",
        "local_source_forbidden",
        'Cannot open a session of mode "local" in cloud mode: leave the mode out',
      );
    }
    const session: NewUploadSession = {
      id: newId("upl", clock.now()),
      organizationId: by.organizationId,
      userId: by.userId,
      name: input.name ?? null,
      mode: input.mode ?? (mode === "cloud" ? "cloud" : "local"),
      state: "open",
      bytes: null,
      sha256: null,
      files: null,
    };
    const creation = await uploadSessions.create(session, { lifetimeMs: UPLOAD_MS, quota: UPLOAD_QUOTA });
    if (creation.outcome !== "created") throw tooMany(creation.outcome);
    // Files that cannot be removed now belong to no session any more; the sweep removes them later.
    for (const id of creation.displaced) await uploadFiles.discard(id).catch(() => {});
    return creation.session;
  };
}

function tooMany(full: "user_full" | "organization_full"): Failure {
  const { perUser, perOrganization } = UPLOAD_QUOTA;
  const why =
    full === "user_full"
      ? `you have ${perUser}, and all of them are receiving a folder. Wait until one has arrived, or discard one`
      : `your organization has ${perOrganization}, and none of yours can be evicted. ` +
        "Wait until some are deployed or expire, within the hour";
  return invalid("too_many_uploads", `Cannot open another upload session: ${why}`);
}
