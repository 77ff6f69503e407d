import { invalid } from "../../domain/failure.ts";
import { readName } from "../../domain/given_name.ts";
import { newId } from "../../domain/id.ts";
import type { Invitation } from "../../domain/identity/identity.ts";
import { covers } from "../../domain/identity/permission.ts";
import type { Secret } from "../../domain/secret.ts";
import { fingerprint } from "../../domain/identity/token.ts";
import type { Attempts } from "../../ports/identity/attempts.ts";
import type { Clock } from "../../ports/system/clock.ts";
import type { Invitations, InvitationTaker } from "../../ports/identity/invitations.ts";
import type { Members } from "../../ports/identity/members.ts";
import type { Passwords } from "../../ports/identity/passwords.ts";
import type { Users } from "../../ports/identity/users.ts";
import type { AuditTrail, Origin } from "../system/audit_trail.ts";
import { checkPassword } from "./set_password.ts";
import { throttle } from "./throttle.ts";

export interface AcceptInvitationPorts {
  readonly auditTrail: AuditTrail;
  readonly attempts: Attempts;
  readonly clock: Clock;
  readonly invitations: Invitations;
  readonly members: Members;
  readonly passwords: Passwords;
  readonly users: Users;
}

export interface Acceptance {
  readonly token: string;
  readonly name: string;
  readonly password: Secret;
}

/**
 * Makes the holder of an invitation token a member; an existing user of that address must give the current password.
 */
export function acceptInvitation(ports: AcceptInvitationPorts) {
  const throttled = throttle(ports);
  return async function (given: Acceptance, origin: Origin): Promise<Invitation> {
    const at = ports.clock.now();
    const token = fingerprint(given.token);
    const invitation = await throttled({ address: origin.from, account: token }, async () => {
      const found = await ports.invitations.findByToken(token);
      if (!found || found.expiresAt <= at || !(await stillCovered(ports, found))) throw gone();
      return found;
    });
    const taker = (await known(invitation, given.password, origin.from)) ?? (await stranger(ports, given));
    const { userId } = taker;
    const joining = {
      by: { organizationId: invitation.organizationId, userId },
      credential: { kind: "invitation", id: invitation.id } as const,
      action: "member.join",
      target: userId,
      ...origin,
    };
    await ports.auditTrail.around(joining, async () => {
      if (!(await ports.invitations.accept(invitation.id, taker, at))) throw gone();
    });
    return invitation;
  };

  /** Counts wrong passwords together with those of logins, so that an invitation is no second way to guess. */
  async function known(invitation: Invitation, password: Secret, from: string): Promise<InvitationTaker | undefined> {
    const user = await ports.users.findByEmail(invitation.email);
    if (!user) return undefined;
    return throttled({ address: from, account: fingerprint(invitation.email) }, async () => {
      if (await ports.passwords.verify(password, await ports.users.passwordHash(user.id))) {
        return { kind: "known", userId: user.id };
      }
      throw invalid("wrong_password", "Cannot accept: this address has an account already; give its current password");
    });
  }
}

async function stranger(
  { passwords }: AcceptInvitationPorts,
  { name: given, password }: Acceptance,
): Promise<InvitationTaker> {
  checkPassword(password);
  const name = readName(given, "give your name");
  return { kind: "new", userId: newId("usr"), name, passwordHash: await passwords.hash(password) };
}

/** An invitation is valid only while its inviter is a member who could still grant it. */
async function stillCovered({ members }: AcceptInvitationPorts, invitation: Invitation): Promise<boolean> {
  const inviter = await members.find(invitation.organizationId, invitation.invitedBy);
  if (!inviter) return false;
  const { userId, organizationId, role, grants } = inviter;
  const credential = { kind: "session", id: "" } as const;
  const by = { userId, organizationId, role, grants, credential, founder: false, narrowing: null, expiresAt: null };
  return covers(by, invitation.role, invitation.grants);
}

function gone() {
  return invalid(
    "invitation_gone",
    "Cannot accept: the invitation is unknown, used, revoked or older than seven days. Ask for a new one",
  );
}
