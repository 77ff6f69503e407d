import type { ReceivedUpload } from "./upload_files.ts";

/** Lets one caller at a time receive into a session. Leases expire by the clock of the store. */
export interface UploadLeases {
  /**
   * Moves an unexpired `open` or `ready` session, or one whose receiver's lease expired, to `receiving` for `leaseMs`,
   * for exactly one of several callers, and returns the id of its lease. Discards the previous content of a `ready`
   * session. Returns `undefined` when the session cannot be received into.
   */
  begin(id: string, leaseMs: number): Promise<string | undefined>;
  /** Extends a lease. Returns `false` when it is lost: another receiver has taken over, or the session is gone. */
  renew(id: string, lease: string, leaseMs: number): Promise<boolean>;
  /**
   * Moves a session that is being received under this lease to `ready`, for another hour. Returns `false` when it is
   * not.
   */
  complete(id: string, lease: string, received: ReceivedUpload): Promise<boolean>;
  /** Moves a session that is being received under this lease back to `open`. */
  giveUp(id: string, lease: string): Promise<void>;
}
