import type { Listing, Page } from "../../domain/page.ts";
import type { UploadQuota, UploadSession } from "../../domain/projects/upload.ts";
import type { UploadLeases } from "./upload_leases.ts";

/** A session to be created. The store sets its creation and expiry times. */
export type NewUploadSession = Omit<UploadSession, "createdAt" | "expiresAt">;

export type UploadCreation =
  | {
      readonly outcome: "created";
      readonly session: UploadSession;
      /** The ids of evicted sessions, whose files may be deleted. */
      readonly displaced: readonly string[];
    }
  | { readonly outcome: "user_full" | "organization_full" };

/** A session and whether it has expired. */
export interface FoundUploadSession extends UploadSession {
  readonly expired: boolean;
}

/** Stores upload sessions. Leases and expiry use the clock of the store. */
export interface UploadSessions extends UploadLeases {
  /**
   * Stores a session for `lifetimeMs`. When the user or the organization has reached its quota of unexpired, unused
   * sessions, the user's oldest are evicted, those of this organization first and never one that is being received.
   * When that is not enough, nothing is evicted and the session is refused. This also holds under a race.
   */
  create(
    session: NewUploadSession,
    options: { readonly lifetimeMs: number; readonly quota: UploadQuota },
  ): Promise<UploadCreation>;
  find(organizationId: string, id: string): Promise<FoundUploadSession | undefined>;
  /** Lists the unexpired, unused sessions of one user in one organization, newest first. */
  list(organizationId: string, userId: string, page: Page): Promise<Listing<UploadSession>>;
  /** Removes an unused session of the user, even while it is being received. Returns `false` when there is none. */
  remove(organizationId: string, userId: string, id: string): Promise<boolean>;
  /**
   * Deletes expired sessions that are neither used nor being received. Returns the ids whose files may be deleted:
   * those of the deleted sessions, and those of `stored` that belong to no session in any organization, or to a used
   * one that no deployment still has to build from.
   */
  sweep(stored: readonly string[]): Promise<readonly string[]>;
}
