import { invalidField } from "../../domain/failure.ts";
import { readName } from "../../domain/given_name.ts";
import { normalEmail, type User } from "../../domain/identity/identity.ts";
import { type Principal, refuseNarrowed, unauthenticated } from "../../domain/identity/permission.ts";
import type { Secret } from "../../domain/secret.ts";
import { confirmPassword, type ConfirmPasswordPorts } from "./confirm_password.ts";
import { throttle } from "./throttle.ts";

export interface ProfileChange {
  readonly name?: string;
  readonly email?: string;
  /** The current password; required to change the address, if the user has one. */
  readonly current?: Secret;
}

/**
 * Changes the caller's own name or e-mail address. The address needs the current password, as it controls the account.
 */
export function changeProfile(ports: ConfirmPasswordPorts) {
  const confirm = confirmPassword(ports);
  const throttled = throttle(ports);
  return async function (by: Principal, change: ProfileChange, from: string): Promise<User> {
    refuseNarrowed(by);
    const email = change.email === undefined ? undefined : normalEmail(change.email);
    if (change.email !== undefined && !email) throw invalidField("email", "this is not an e-mail address");
    const name = change.name === undefined ? undefined : readName(change.name, "give a name");
    const store = () => ports.users.change(by.userId, { ...(name && { name }), ...(email && { email }) });
    if (email) await confirm(by, change.current, from);
    // A refusal reveals that the address has an account, so attempts are throttled against enumeration.
    const user = email ? await throttled({ address: from, account: by.userId }, store) : await store();
    if (!user) throw unauthenticated();
    return user;
  };
}
