import { invalid, invalidField } from "../../domain/failure.ts";
import { newId } from "../../domain/id.ts";
import type { Invitation } from "../../domain/identity.ts";
import type { Secret } from "../../domain/secret.ts";
import { fingerprint } from "../../domain/token.ts";
import type { Attempts } from "../../ports/attempts.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Invitations, Newcomer } from "../../ports/invitations.ts";
import type { Passwords } from "../../ports/passwords.ts";
import type { Users } from "../../ports/users.ts";
import { checkPassword } from "./set_password.ts";
import { throttle } from "./throttle.ts";

export interface AcceptInvitationPorts {
  readonly attempts: Attempts;
  readonly clock: Clock;
  readonly invitations: Invitations;
  readonly passwords: Passwords;
  readonly users: Users;
}

export interface Acceptance {
  readonly token: string;
  readonly name: string;
  readonly password: Secret;
}

/** Makes a member of whoever holds an invitation; a person known by that address proves it with the present password. */
export function acceptInvitation(ports: AcceptInvitationPorts) {
  const throttled = throttle(ports);
  return async function (
    given: Acceptance,
    from: string,
  ): Promise<{ readonly invitation: Invitation; readonly userId: string }> {
    const at = ports.clock.now();
    const token = fingerprint(given.token);
    return throttled({ address: from, account: token }, async () => {
      const invitation = await ports.invitations.findByToken(token);
      if (!invitation || invitation.expiresAt <= at) throw gone();
      const newcomer = await newcomerOf(ports, invitation, given);
      if (!(await ports.invitations.accept(invitation.id, newcomer, at))) throw gone();
      return { invitation, userId: newcomer.userId };
    });
  };
}

async function newcomerOf(ports: AcceptInvitationPorts, invitation: Invitation, given: Acceptance): Promise<Newcomer> {
  const known = await ports.users.findByEmail(invitation.email);
  if (known) {
    const hash = await ports.users.passwordHash(known.id);
    if (!(await ports.passwords.verify(given.password, hash))) {
      throw invalid("wrong_password", "Cannot accept: this address has an account already; give its present password");
    }
    return { kind: "known", userId: known.id };
  }
  checkPassword(given.password);
  const name = given.name.trim();
  if (!name) throw invalidField("name", "give your name");
  return { kind: "new", userId: newId("usr"), name, passwordHash: await ports.passwords.hash(given.password) };
}

function gone() {
  return invalid(
    "invitation_gone",
    "Cannot accept: the invitation is unknown, taken or older than seven days. Ask for a new one",
  );
}
