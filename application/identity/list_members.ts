import type { Page } from "../../domain/page.ts";
import type { Principal } from "../../domain/identity/permission.ts";
import { demand } from "../../domain/identity/permission.ts";
import type { Clock } from "../../ports/system/clock.ts";
import type { Invitations } from "../../ports/identity/invitations.ts";
import type { Members } from "../../ports/identity/members.ts";

/** Lists the members of the caller's organization. */
export function listMembers({ members }: { readonly members: Members }) {
  return async function (by: Principal, page: Page) {
    demand(by, "member:read");
    return members.list(by.organizationId, page);
  };
}

/** Lists the pending invitations. */
export function listInvitations({ clock, invitations }: { readonly clock: Clock; readonly invitations: Invitations }) {
  return async function (by: Principal, page: Page) {
    demand(by, "member:read");
    return invitations.list(by.organizationId, clock.now(), page);
  };
}
