import type { UploadSession } from "../domain/upload.ts";
import type { ReceivedUpload } from "./upload_files.ts";

/** Where upload sessions are kept. */
export interface UploadSessions {
  create(session: UploadSession): Promise<void>;
  find(organizationId: string, id: string): Promise<UploadSession | undefined>;
  /**
   * Moves an unexpired `open` session to `receiving` for `leaseMs`, for exactly one of several callers; also one whose receiver's lease ran out.
   * `false` when it cannot.
   */
  begin(id: string, options: { readonly at: Date; readonly leaseMs: number }): Promise<boolean>;
  renew(id: string, options: { readonly at: Date; readonly leaseMs: number }): Promise<void>;
  /** Moves a `receiving` session to `ready`, with another hour to be used. */
  complete(id: string, received: ReceivedUpload, at: Date): Promise<void>;
  /** Moves a `receiving` session back to `open`. */
  giveUp(id: string): Promise<void>;
  /** Removes sessions that expired before a time and are neither used nor being received, and returns their ids. */
  sweep(before: Date): Promise<readonly string[]>;
  /** Tells whether a session of this id is kept, in any organization and state. */
  known(id: string): Promise<boolean>;
}
