import type { Member } from "../../domain/identity/identity.ts";
import type { Listing, Page } from "../../domain/page.ts";
import type { Grant, Role } from "../../domain/identity/permission.ts";

/** The result of a member change. The last owner of an organization always stays its owner, even under a race. */
export type MemberOutcome = "done" | "missing" | "last_owner";

/** Stores the members of organizations with their roles and grants. */
export interface Members {
  /** Newest first. */
  list(organizationId: string, page: Page): Promise<Listing<Member>>;
  find(organizationId: string, userId: string): Promise<Member | undefined>;
  /** Replaces the role and the grants. */
  change(
    organizationId: string,
    userId: string,
    to: { readonly role: Role; readonly grants: readonly Grant[] },
  ): Promise<MemberOutcome>;
  /** Removes a member and revokes the member's tokens of that organization, atomically. */
  remove(organizationId: string, userId: string): Promise<MemberOutcome>;
}
