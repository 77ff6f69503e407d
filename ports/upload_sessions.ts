import type { UploadQuota, UploadSession } from "../domain/upload.ts";
import type { ReceivedUpload } from "./upload_files.ts";

export type UploadCreation = "created" | "user_full" | "organization_full";

/** Where upload sessions are kept. */
export interface UploadSessions {
  /** Keeps a session unless its person or its organization has its quota of unexpired, unused ones, also under a race. */
  create(session: UploadSession, quota: UploadQuota): Promise<UploadCreation>;
  find(organizationId: string, id: string): Promise<UploadSession | undefined>;
  /**
   * Moves an unexpired `open` session to `receiving` for `leaseMs`, for exactly one of several callers, and names its lease;
   * also a session whose receiver's lease ran out. `undefined` when it cannot.
   */
  begin(id: string, options: { readonly at: Date; readonly leaseMs: number }): Promise<string | undefined>;
  /** Holds a lease longer; `false` when it is lost: another receiver has taken over, or the session is gone. */
  renew(id: string, lease: string, options: { readonly at: Date; readonly leaseMs: number }): Promise<boolean>;
  /** Moves a session that is received under this lease to `ready`, with another hour to be used; `false` when it is not. */
  complete(id: string, lease: string, received: ReceivedUpload, at: Date): Promise<boolean>;
  /** Moves a session that is received under this lease back to `open`. */
  giveUp(id: string, lease: string): Promise<void>;
  /**
   * Removes sessions that expired before a time and are neither used nor being received. Returns the ids whose files may
   * go: theirs, and those of `stored` that no session has, in any organization, or that are used by no deployment which is still to be built.
   */
  sweep(before: Date, stored: readonly string[]): Promise<readonly string[]>;
}
