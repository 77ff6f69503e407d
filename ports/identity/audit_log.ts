import type { ActingFor } from "../../domain/identity/permission.ts";
import type { Listing, Page } from "../../domain/page.ts";

export type AuditOutcome = "started" | "succeeded" | "refused" | "failed";

/** One change, or one attempted change. */
export interface AuditEntry {
  readonly id: string;
  readonly organizationId: string;
  readonly userId: string;
  readonly credential: {
    readonly kind: "token" | "session" | "password" | "invitation" | "githost";
    readonly id: string;
  };
  /** The member of a linked installation that it was made for, as that installation says; `null` without one. */
  readonly actingFor: ActingFor | null;
  /** The action, such as `project.create`. */
  readonly action: string;
  /** The id of the changed object, once known. */
  readonly target: string | null;
  /** Names of the fields, or keys of the variables, that the change sets or deletes. Never a value. */
  readonly changed: readonly string[];
  readonly at: Date;
  /** The IP address of the client. */
  readonly from: string;
  readonly requestId: string;
  readonly outcome: AuditOutcome;
}

export interface AuditFilter {
  readonly userId?: string;
  readonly action?: string;
  readonly target?: string;
}

/** Records who changed what. An entry is stored before its change begins, so that no change lacks an entry. */
export interface AuditLog {
  record(entry: AuditEntry): Promise<void>;
  /** Sets the outcome of a started entry. */
  finish(id: string, end: { readonly outcome: AuditOutcome; readonly target: string | null }): Promise<void>;
  /** Newest first. */
  list(organizationId: string, filter: AuditFilter, page: Page): Promise<Listing<AuditEntry>>;
  /** Deletes entries older than a time, at most a few thousand per call, and returns how many. */
  sweep(before: Date): Promise<number>;
}
