import type { Organization } from "../domain/identity.ts";
import type { Listing, Page } from "../domain/page.ts";

/** Where organizations are kept. */
export interface Organizations {
  /** Stores an organization with its first owner, in one step; rejects with a `conflict` failure when the slug is taken. */
  create(organization: Organization, ownerId: string): Promise<void>;
  /** Lists those of the given ids that exist, newest first. */
  list(ids: readonly string[], page: Page): Promise<Listing<Organization>>;
}
