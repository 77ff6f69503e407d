import { invalid, notFound } from "../../domain/failure.ts";
import { isId } from "../../domain/id.ts";
import type { Member } from "../../domain/identity/identity.ts";
import { demand, type Grant, type Principal, type Role } from "../../domain/identity/permission.ts";
import type { Members, MemberOutcome } from "../../ports/identity/members.ts";
import { refuseMore } from "./invite_member.ts";

/** Changes a member's role or grants; neither the old nor the new ones may exceed the caller's own. */
export function changeMember({ members }: { readonly members: Members }) {
  return async function (
    by: Principal,
    userId: string,
    change: { readonly role?: Role | undefined; readonly grants?: readonly Grant[] | undefined },
  ): Promise<Member> {
    const member = isId("usr", userId) ? await members.find(by.organizationId, userId) : undefined;
    if (!member) throw notFound("member");
    demand(by, "member:admin", { id: userId });
    refuseMore(by, member.role, member.grants);
    const role = change.role ?? member.role;
    const grants = change.grants ?? member.grants;
    refuseMore(by, role, grants);
    settle(await members.change(by.organizationId, userId, { role, grants }));
    return { ...member, role, grants };
  };
}

/** Throws the failure of an unsuccessful member change. */
export function settle(outcome: MemberOutcome): void {
  if (outcome === "missing") throw notFound("member");
  if (outcome === "last_owner") {
    throw invalid("last_owner", "Cannot remove the last owner: make another member an owner first");
  }
}
