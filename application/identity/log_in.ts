import { Failure } from "../../domain/failure.ts";
import { newId } from "../../domain/id.ts";
import { normalEmail, type User } from "../../domain/identity.ts";
import type { Secret } from "../../domain/secret.ts";
import { fingerprint, randomText } from "../../domain/token.ts";
import type { Attempts } from "../../ports/attempts.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Passwords } from "../../ports/passwords.ts";
import type { Sessions } from "../../ports/sessions.ts";
import type { Users } from "../../ports/users.ts";
import { throttle } from "./throttle.ts";

export const SESSION_MS = 14 * 24 * 3_600_000;

export interface LogInPorts {
  readonly attempts: Attempts;
  readonly clock: Clock;
  readonly passwords: Passwords;
  readonly sessions: Sessions;
  readonly users: Users;
}

export interface LoggedIn {
  readonly user: User;
  readonly sessionId: string;
  /** The cookie's value; kept nowhere else. */
  readonly cookie: string;
  readonly expiresAt: Date;
}

/** Opens a session for a person who knows the password; unknown addresses and wrong passwords look the same. */
export function logIn(ports: LogInPorts) {
  const throttled = throttle(ports);
  return async function (email: string, password: Secret, from: string): Promise<LoggedIn> {
    const account = normalEmail(email) ?? "";
    return throttled({ address: from, account: fingerprint(account) }, async () => {
      const user = await ports.users.findByEmail(account);
      const hash = user && (await ports.users.passwordHash(user.id));
      if (!(await ports.passwords.verify(password, hash)) || !user) {
        throw new Failure(
          "unauthenticated",
          "wrong_login",
          "Cannot log in: the e-mail address or the password is wrong",
        );
      }
      return openSession(ports, user);
    });
  };
}

async function openSession({ clock, sessions }: Pick<LogInPorts, "clock" | "sessions">, user: User): Promise<LoggedIn> {
  const createdAt = clock.now();
  const expiresAt = new Date(createdAt.getTime() + SESSION_MS);
  const session = { id: newId("ses", createdAt), userId: user.id, createdAt, expiresAt };
  const cookie = randomText();
  await sessions.create(session, fingerprint(cookie));
  return { user, sessionId: session.id, cookie, expiresAt };
}
