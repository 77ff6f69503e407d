import type { Listing, Page } from "../../domain/page.ts";
import type { UploadQuota, UploadSession } from "../../domain/projects/upload.ts";
import type { UploadLeases } from "./upload_leases.ts";

/** A session as it is opened; when it was, and until when it waits, is told by the store. */
export type NewUploadSession = Omit<UploadSession, "createdAt" | "expiresAt">;

export type UploadCreation =
  | {
      readonly outcome: "created";
      readonly session: UploadSession;
      /** The ids of sessions that gave way; their files may go. */
      readonly displaced: readonly string[];
    }
  | { readonly outcome: "user_full" | "organization_full" };

/** A session with whether its time is over. */
export interface FoundUploadSession extends UploadSession {
  readonly expired: boolean;
}

/** Where upload sessions are kept; leases and expiry are by the clock of the store. */
export interface UploadSessions extends UploadLeases {
  /**
   * Keeps a session for so long. Where its person or its organization has its quota of unexpired, unused ones, also under
   * a race, the oldest of that person give way, those of this organization first and never one that is being received.
   * Where that is not enough, none gives way and the session is refused.
   */
  create(
    session: NewUploadSession,
    options: { readonly lifetimeMs: number; readonly quota: UploadQuota },
  ): Promise<UploadCreation>;
  find(organizationId: string, id: string): Promise<FoundUploadSession | undefined>;
  /** The unexpired, unused sessions of one person in one organization, newest first. */
  list(organizationId: string, userId: string, page: Page): Promise<Listing<UploadSession>>;
  /** Removes a person's own session that is not used, also while it is received; `false` when there is none. */
  remove(organizationId: string, userId: string, id: string): Promise<boolean>;
  /**
   * Removes sessions that expired and are neither used nor being received. Returns the ids whose files may
   * go: theirs, and those of `stored` that no session has, in any organization, or that are used by no deployment which is still to be built.
   */
  sweep(stored: readonly string[]): Promise<readonly string[]>;
}
