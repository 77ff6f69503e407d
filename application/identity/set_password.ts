import { Failure, invalidField } from "../../domain/failure.ts";
import type { Principal } from "../../domain/permission.ts";
import type { Secret } from "../../domain/secret.ts";
import type { Attempts } from "../../ports/attempts.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Passwords } from "../../ports/passwords.ts";
import type { Sessions } from "../../ports/sessions.ts";
import type { Users } from "../../ports/users.ts";
import { refuseNarrowed } from "./change_profile.ts";
import { throttle } from "./throttle.ts";

export interface SetPasswordPorts {
  readonly attempts: Attempts;
  readonly clock: Clock;
  readonly passwords: Passwords;
  readonly sessions: Sessions;
  readonly users: Users;
}

/** Sets the caller's own password and ends its other sessions; a present password must be given, but for the first owner by token. */
export function setPassword(ports: SetPasswordPorts) {
  const throttled = throttle(ports);
  return async function (
    by: Principal,
    given: { readonly password: Secret; readonly current?: Secret },
    from: string,
  ): Promise<void> {
    refuseNarrowed(by);
    checkPassword(given.password);
    const hash = await ports.users.passwordHash(by.userId);
    const recovers = by.founder && by.credential.kind === "token";
    if (hash && !recovers) {
      await throttled({ address: from, account: by.userId }, async () => {
        if (!given.current || !(await ports.passwords.verify(given.current, hash))) {
          throw new Failure(
            "forbidden",
            "wrong_password",
            'Cannot set the password: "current" is not the present password',
          );
        }
      });
    }
    await ports.users.setPasswordHash(by.userId, await ports.passwords.hash(given.password));
    await ports.sessions.endOthers(by.userId, by.credential.kind === "session" ? by.credential.id : null);
  };
}

/** Refuses passwords that are too short to resist guessing or too long to hash in reason. */
export function checkPassword(password: Secret): void {
  const { length } = password.reveal();
  if (length < 10) throw invalidField("password", "use at least 10 characters");
  if (length > 200) throw invalidField("password", "use at most 200 characters");
}
