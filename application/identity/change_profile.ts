import { Failure, invalidField } from "../../domain/failure.ts";
import { normalEmail, type User } from "../../domain/identity.ts";
import { type Principal, unauthenticated } from "../../domain/permission.ts";
import type { Users } from "../../ports/users.ts";

/** Changes the caller's own name or e-mail address; a narrowed token may not. */
export function changeProfile({ users }: { readonly users: Users }) {
  return async function (by: Principal, change: { readonly name?: string; readonly email?: string }): Promise<User> {
    refuseNarrowed(by);
    const email = change.email === undefined ? undefined : normalEmail(change.email);
    if (change.email !== undefined && !email) throw invalidField("email", "this is not an e-mail address");
    const name = change.name?.trim();
    if (name === "") throw invalidField("name", "give a name");
    const user = await users.change(by.userId, { ...(name && { name }), ...(email && { email }) });
    if (!user) throw unauthenticated();
    return user;
  };
}

/** Refuses a token that may not do everything its owner may. */
export function refuseNarrowed(by: Principal): void {
  if (by.narrowing) {
    throw new Failure(
      "forbidden",
      "narrowed_token",
      "Cannot do this with a narrowed token: use a session or a token without limits",
    );
  }
}
