import type { Member } from "../../domain/identity/identity.ts";
import type { Listing, Page } from "../../domain/page.ts";
import type { Grant, Role } from "../../domain/identity/permission.ts";

/** How a change of members ended; the last owner of an organization stays one, under any race. */
export type MemberOutcome = "done" | "missing" | "last_owner";

/** Who belongs to an organization, as what. */
export interface Members {
  /** Newest first. */
  list(organizationId: string, page: Page): Promise<Listing<Member>>;
  find(organizationId: string, userId: string): Promise<Member | undefined>;
  /** Replaces role and grants. */
  change(
    organizationId: string,
    userId: string,
    to: { readonly role: Role; readonly grants: readonly Grant[] },
  ): Promise<MemberOutcome>;
  /** Ends a membership and revokes the member's tokens of that organization, in one step. */
  remove(organizationId: string, userId: string): Promise<MemberOutcome>;
}
