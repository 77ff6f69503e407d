import type { UploadQuota, UploadSession } from "../domain/upload.ts";
import type { ReceivedUpload } from "./upload_files.ts";

/** A session as it is opened; when it was, and until when it waits, is told by the store. */
export type NewUploadSession = Omit<UploadSession, "createdAt" | "expiresAt">;

export type UploadCreation =
  | { readonly outcome: "created"; readonly session: UploadSession }
  | { readonly outcome: "user_full" | "organization_full" };

/** A session with whether its time is over. */
export interface FoundUploadSession extends UploadSession {
  readonly expired: boolean;
}

/** Where upload sessions are kept; leases and expiry are by the clock of the store. */
export interface UploadSessions {
  /** Keeps a session for so long, unless its person or its organization has its quota of unexpired, unused ones, also under a race. */
  create(
    session: NewUploadSession,
    options: { readonly lifetimeMs: number; readonly quota: UploadQuota },
  ): Promise<UploadCreation>;
  find(organizationId: string, id: string): Promise<FoundUploadSession | undefined>;
  /**
   * Moves an unexpired `open` session to `receiving` for `leaseMs`, for exactly one of several callers, and names its lease;
   * also a session whose receiver's lease ran out. `undefined` when it cannot.
   */
  begin(id: string, leaseMs: number): Promise<string | undefined>;
  /** Holds a lease longer; `false` when it is lost: another receiver has taken over, or the session is gone. */
  renew(id: string, lease: string, leaseMs: number): Promise<boolean>;
  /** Moves a session that is received under this lease to `ready`, with another hour to be used; `false` when it is not. */
  complete(id: string, lease: string, received: ReceivedUpload): Promise<boolean>;
  /** Moves a session that is received under this lease back to `open`. */
  giveUp(id: string, lease: string): Promise<void>;
  /**
   * Removes sessions that expired and are neither used nor being received. Returns the ids whose files may
   * go: theirs, and those of `stored` that no session has, in any organization, or that are used by no deployment which is still to be built.
   */
  sweep(stored: readonly string[]): Promise<readonly string[]>;
}
