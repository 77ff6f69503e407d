import type { Organization } from "../../domain/identity/identity.ts";
import type { Listing, Page } from "../../domain/page.ts";

/** Where organizations are kept. */
export interface Organizations {
  /** Stores an organization with its first owner, in one step; rejects with a `conflict` failure, code `slug_taken`. */
  create(organization: Organization, ownerId: string): Promise<void>;
  /** Lists those of the given ids that exist, newest first. */
  list(ids: readonly string[], page: Page): Promise<Listing<Organization>>;
  /** Lists those a person is a member of, newest first. */
  listOf(userId: string, page: Page): Promise<Listing<Organization>>;
}
