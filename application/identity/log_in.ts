import { Failure } from "../../domain/failure.ts";
import { newId } from "../../domain/id.ts";
import { normalEmail, type User } from "../../domain/identity/identity.ts";
import type { Secret } from "../../domain/secret.ts";
import { fingerprint, randomText } from "../../domain/identity/token.ts";
import type { Attempts } from "../../ports/identity/attempts.ts";
import type { Clock } from "../../ports/system/clock.ts";
import type { Passwords } from "../../ports/identity/passwords.ts";
import type { Sessions } from "../../ports/identity/sessions.ts";
import type { Users } from "../../ports/identity/users.ts";
import type { Origin } from "../system/audit_trail.ts";
import { recordLogin, type RecordLoginPorts } from "./record_login.ts";
import { throttle } from "./throttle.ts";

export const SESSION_MS = 14 * 24 * 3_600_000;

export interface LogInPorts extends RecordLoginPorts {
  readonly attempts: Attempts;
  readonly clock: Clock;
  readonly passwords: Passwords;
  readonly sessions: Sessions;
  readonly users: Users;
}

export interface LoggedIn {
  readonly user: User;
  /** The session cookie's value; stored nowhere in plain text. */
  readonly cookie: string;
  readonly expiresAt: Date;
}

/** Verifies the password and opens a session; unknown addresses and wrong passwords are indistinguishable. */
export function logIn(ports: LogInPorts) {
  const throttled = throttle(ports);
  const recorded = recordLogin(ports);
  return async function (email: string, password: Secret, origin: Origin): Promise<LoggedIn> {
    const account = normalEmail(email) ?? "";
    return throttled({ address: origin.from, account: fingerprint(account) }, async () => {
      const user = await ports.users.findByEmail(account);
      const hash = user && (await ports.users.passwordHash(user.id));
      if ((await ports.passwords.verify(password, hash)) && user) return openSession(user, origin);
      // Not awaited: the response time must not reveal whether the address is known (timing attack).
      if (user) void recorded.refused(user.id, origin).catch(() => {});
      throw new Failure("unauthenticated", "wrong_login", "Cannot log in: the e-mail address or the password is wrong");
    });
  };

  async function openSession(user: User, origin: Origin): Promise<LoggedIn> {
    const createdAt = ports.clock.now();
    const expiresAt = new Date(createdAt.getTime() + SESSION_MS);
    const session = { id: newId("ses", createdAt), userId: user.id, createdAt, expiresAt };
    const cookie = randomText();
    await recorded.opening(session, origin, () => ports.sessions.create(session, fingerprint(cookie)));
    return { user, cookie, expiresAt };
  }
}
