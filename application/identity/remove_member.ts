import { notFound } from "../../domain/failure.ts";
import { isId } from "../../domain/id.ts";
import { demand, type Principal } from "../../domain/identity/permission.ts";
import type { Invitations } from "../../ports/identity/invitations.ts";
import type { Members } from "../../ports/identity/members.ts";
import { settle } from "./change_member.ts";
import { refuseMore } from "./invite_member.ts";

/**
 * Removes a member with its tokens, or withdraws an invitation; refuses for members with more rights than the caller.
 */
export function removeMember({
  invitations,
  members,
}: {
  readonly invitations: Invitations;
  readonly members: Members;
}) {
  return async function (by: Principal, id: string): Promise<void> {
    const invited = isId("inv", id)
      ? await invitations.find(by.organizationId, id)
      : isId("usr", id) && (await members.find(by.organizationId, id));
    if (!invited) throw notFound("member");
    demand(by, "member:admin", { id });
    refuseMore(by, invited.role, invited.grants);
    if (!("userId" in invited)) {
      if (!(await invitations.remove(by.organizationId, id))) throw notFound("member");
      return;
    }
    settle(await members.remove(by.organizationId, id));
  };
}
