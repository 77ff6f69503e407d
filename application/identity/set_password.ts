import { invalidField } from "../../domain/failure.ts";
import { type Principal, refuseNarrowed } from "../../domain/identity/permission.ts";
import type { Secret } from "../../domain/secret.ts";
import type { Sessions } from "../../ports/identity/sessions.ts";
import { confirmPassword, type ConfirmPasswordPorts } from "./confirm_password.ts";

export interface SetPasswordPorts extends ConfirmPasswordPorts {
  readonly sessions: Sessions;
}

/**
 * Sets the caller's own password and ends its other sessions. Needs the current password, if any, unless the caller
 * uses the first owner's own token.
 */
export function setPassword(ports: SetPasswordPorts) {
  const confirm = confirmPassword(ports);
  return async function (
    by: Principal,
    given: { readonly password: Secret; readonly current?: Secret },
    from: string,
  ): Promise<void> {
    refuseNarrowed(by);
    checkPassword(given.password);
    await confirm(by, given.current, from);
    await ports.users.setPasswordHash(by.userId, await ports.passwords.hash(given.password));
    await ports.sessions.endOthers(by.userId, by.credential.kind === "session" ? by.credential.id : null);
  };
}

/** Refuses passwords that are too short to resist guessing or too long to hash in reasonable time. */
export function checkPassword(password: Secret): void {
  const { length } = password.reveal();
  if (length < 10) throw invalidField("password", "use at least 10 characters");
  if (length > 200) throw invalidField("password", "use at most 200 characters");
}
