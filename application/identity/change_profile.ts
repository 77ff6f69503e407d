import { invalidField } from "../../domain/failure.ts";
import { normalEmail, type User } from "../../domain/identity/identity.ts";
import { type Principal, refuseNarrowed, unauthenticated } from "../../domain/identity/permission.ts";
import type { Secret } from "../../domain/secret.ts";
import { confirmPassword, type ConfirmPasswordPorts } from "./confirm_password.ts";
import { throttle } from "./throttle.ts";

export interface ProfileChange {
  readonly name?: string;
  readonly email?: string;
  /** The present password, where there is one and the address is to change. */
  readonly current?: Secret;
}

/** Changes the caller's own name, or its e-mail address, which takes the present password: whoever has the address has the account. */
export function changeProfile(ports: ConfirmPasswordPorts) {
  const confirm = confirmPassword(ports);
  const throttled = throttle(ports);
  return async function (by: Principal, change: ProfileChange, from: string): Promise<User> {
    refuseNarrowed(by);
    const email = change.email === undefined ? undefined : normalEmail(change.email);
    if (change.email !== undefined && !email) throw invalidField("email", "this is not an e-mail address");
    const name = change.name?.trim();
    if (name === "") throw invalidField("name", "give a name");
    const store = () => ports.users.change(by.userId, { ...(name && { name }), ...(email && { email }) });
    if (email) await confirm(by, change.current, from);
    // A taken address tells that it has an account, so asking for many is guessing too.
    const user = email ? await throttled({ address: from, account: by.userId }, store) : await store();
    if (!user) throw unauthenticated();
    return user;
  };
}
