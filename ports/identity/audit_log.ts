import type { Listing, Page } from "../../domain/page.ts";

export type AuditOutcome = "started" | "succeeded" | "refused" | "failed";

/** One change, or one attempt at it. */
export interface AuditEntry {
  readonly id: string;
  readonly organizationId: string;
  readonly userId: string;
  readonly credential: { readonly kind: "token" | "session" | "password" | "invitation"; readonly id: string };
  /** What was done, such as `project.create`. */
  readonly action: string;
  /** The id of what it was done to, once known. */
  readonly target: string | null;
  /** Names of the fields, or keys of the variables, that it sets or deletes; never a value. */
  readonly changed: readonly string[];
  readonly at: Date;
  /** The caller's address. */
  readonly from: string;
  readonly requestId: string;
  readonly outcome: AuditOutcome;
}

export interface AuditFilter {
  readonly userId?: string;
  readonly action?: string;
  readonly target?: string;
}

/** Who changed what; an entry is stored before its change begins, so that none is without one. */
export interface AuditLog {
  record(entry: AuditEntry): Promise<void>;
  /** Says how a started entry ended. */
  finish(id: string, end: { readonly outcome: AuditOutcome; readonly target: string | null }): Promise<void>;
  /** Newest first. */
  list(organizationId: string, filter: AuditFilter, page: Page): Promise<Listing<AuditEntry>>;
  /** Removes entries from before a time, at most some thousands at once, and tells how many. */
  sweep(before: Date): Promise<number>;
}
