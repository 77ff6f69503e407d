import { conflict, Failure, invalidField } from "../../domain/failure.ts";
import { newId } from "../../domain/id.ts";
import { type Invitation, normalEmail } from "../../domain/identity/identity.ts";
import { covers, demand, type Grant, type Principal, type Role } from "../../domain/identity/permission.ts";
import { fingerprint, randomText } from "../../domain/identity/token.ts";
import type { Clock } from "../../ports/system/clock.ts";
import type { Invitations } from "../../ports/identity/invitations.ts";
import type { Members } from "../../ports/identity/members.ts";
import type { Users } from "../../ports/identity/users.ts";

export const INVITATION_MS = 7 * 24 * 3_600_000;

export interface InvitationInput {
  readonly email: string;
  readonly role: Role;
  readonly grants?: readonly Grant[] | undefined;
}

export interface InviteMemberPorts {
  readonly clock: Clock;
  readonly invitations: Invitations;
  readonly members: Members;
  readonly users: Users;
}

/**
 * Invites a person to the caller's organization with at most the caller's own rights. Replaces a former invitation of
 * that address. The token is returned only here.
 */
export function inviteMember({ clock, invitations, members, users }: InviteMemberPorts) {
  return async function (
    by: Principal,
    input: InvitationInput,
  ): Promise<{ readonly invitation: Invitation; readonly token: string }> {
    demand(by, "member:admin");
    const email = normalEmail(input.email);
    if (!email) throw invalidField("email", "this is not an e-mail address");
    const grants = input.grants ?? [];
    refuseMore(by, input.role, grants);
    const known = await users.findByEmail(email);
    if (known && (await members.find(by.organizationId, known.id))) {
      throw conflict(
        "already_member",
        "Cannot invite: this address belongs to a member. Change the member's role instead",
      );
    }
    const createdAt = clock.now();
    const former = await invitations.findByEmail(by.organizationId, email);
    if (former && former.expiresAt > createdAt) refuseMore(by, former.role, former.grants);
    const invitation = {
      id: newId("inv", createdAt),
      organizationId: by.organizationId,
      email,
      role: input.role,
      grants,
      invitedBy: by.userId,
      createdAt,
      expiresAt: new Date(createdAt.getTime() + INVITATION_MS),
    };
    const token = randomText();
    await invitations.create(invitation, fingerprint(token));
    return { invitation, token };
  };
}

/** Refuses a role or grants that exceed those of the credential in use. */
export function refuseMore(by: Principal, role: Role, grants: readonly Grant[]): void {
  if (!covers(by, role, grants)) {
    throw new Failure(
      "forbidden",
      "beyond_own_rights",
      `Cannot give or change "${role}" with these grants: it is more than your own credential has`,
    );
  }
}
