import { type Failure, invalid } from "../failure.ts";

/**
 * The state of a folder upload: `open` waits for the archive, `receiving` reads it, `ready` can be deployed, `used`
 * belongs to a deployment.
 */
export type UploadState = "open" | "receiving" | "ready" | "used";

/** A session for one uploaded folder, bound to its user and organization. */
export interface UploadSession {
  readonly id: string;
  readonly organizationId: string;
  readonly userId: string;
  readonly name: string | null;
  readonly mode: "local" | "cloud";
  readonly state: UploadState;
  readonly bytes: number | null;
  readonly sha256: string | null;
  readonly files: number | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

/** The failure for an upload that another request deployed at the same time. */
export function uploadUsed(): Failure {
  return invalid("upload_not_ready", "Cannot deploy: this upload was deployed already. Open a new session");
}

/** How long a session waits for its archive and, once ready, for its deployment. */
export const UPLOAD_MS = 3_600_000;

/** Maximum number of sessions that are open, receiving or ready at a time. */
export interface UploadQuota {
  readonly perUser: number;
  readonly perOrganization: number;
}

export const UPLOAD_QUOTA: UploadQuota = { perUser: 20, perOrganization: 100 };
