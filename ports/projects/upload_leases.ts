import type { ReceivedUpload } from "./upload_files.ts";

/** Lets one caller at a time receive into a session; a lease ends by the clock of the store. */
export interface UploadLeases {
  /**
   * Moves an unexpired `open` or `ready` session to `receiving` for `leaseMs`, for exactly one of several callers, and
   * names its lease; also a session whose receiver's lease ran out. Forgets what a `ready` one held. `undefined` when it
   * cannot.
   */
  begin(id: string, leaseMs: number): Promise<string | undefined>;
  /** Holds a lease longer; `false` when it is lost: another receiver has taken over, or the session is gone. */
  renew(id: string, lease: string, leaseMs: number): Promise<boolean>;
  /** Moves a session that is received under this lease to `ready`, for another hour; `false` when it is not. */
  complete(id: string, lease: string, received: ReceivedUpload): Promise<boolean>;
  /** Moves a session that is received under this lease back to `open`. */
  giveUp(id: string, lease: string): Promise<void>;
}
