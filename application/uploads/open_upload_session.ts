import { Failure, invalid } from "../../domain/failure.ts";
import { newId } from "../../domain/id.ts";
import { allowsSomewhere, forbidden, type Principal } from "../../domain/permission.ts";
import { UPLOAD_MS, UPLOAD_QUOTA, type UploadSession } from "../../domain/upload.ts";
import type { Clock } from "../../ports/clock.ts";
import type { NewUploadSession, UploadSessions } from "../../ports/upload_sessions.ts";

export interface OpenUploadSessionPorts {
  readonly clock: Clock;
  readonly mode: "self-hosted" | "cloud";
  readonly uploadSessions: UploadSessions;
}

/** Opens a place for one folder, bound to the caller and its organization, for an hour. */
export function openUploadSession({ clock, mode, uploadSessions }: OpenUploadSessionPorts) {
  return async function (
    by: Principal,
    wish: { readonly name?: string; readonly mode?: "local" | "cloud" },
  ): Promise<UploadSession> {
    if (!allowsSomewhere(by, "project:write")) throw forbidden("project:write");
    if (mode === "cloud" && wish.mode === "local") {
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
      name: wish.name ?? null,
      mode: wish.mode ?? (mode === "cloud" ? "cloud" : "local"),
      state: "open",
      bytes: null,
      sha256: null,
      files: null,
    };
    const creation = await uploadSessions.create(session, { lifetimeMs: UPLOAD_MS, quota: UPLOAD_QUOTA });
    if (creation.outcome !== "created") throw tooMany(creation.outcome);
    return creation.session;
  };
}

function tooMany(full: "user_full" | "organization_full"): Failure {
  const { perUser, perOrganization } = UPLOAD_QUOTA;
  const who = full === "user_full" ? `you have ${perUser}` : `your organization has ${perOrganization}`;
  return invalid(
    "too_many_uploads",
    `Cannot open another upload session: ${who} already. Deploy some, or wait until they expire, within the hour`,
  );
}
