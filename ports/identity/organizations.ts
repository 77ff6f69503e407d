import type { Organization } from "../../domain/identity/identity.ts";
import type { Listing, Page } from "../../domain/page.ts";

/** Stores organizations. */
export interface Organizations {
  /** Stores an organization and its first owner atomically. Rejects with a `conflict` failure, code `slug_taken`. */
  create(organization: Organization, ownerId: string): Promise<void>;
  /** Returns whether there is more than one. */
  areSeveral(): Promise<boolean>;
  /** Lists the organizations with these ids, newest first. Skips unknown ids. */
  list(ids: readonly string[], page: Page): Promise<Listing<Organization>>;
  /** Lists the organizations that a user is a member of, newest first. */
  listOf(userId: string, page: Page): Promise<Listing<Organization>>;
}
