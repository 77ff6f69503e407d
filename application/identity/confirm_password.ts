import { Failure } from "../../domain/failure.ts";
import type { Principal } from "../../domain/identity/permission.ts";
import type { Secret } from "../../domain/secret.ts";
import type { Attempts } from "../../ports/identity/attempts.ts";
import type { Installation } from "../../ports/identity/installation.ts";
import type { Passwords } from "../../ports/identity/passwords.ts";
import type { Users } from "../../ports/identity/users.ts";
import { throttle } from "./throttle.ts";

export interface ConfirmPasswordPorts {
  readonly attempts: Attempts;
  readonly installation: Installation;
  readonly passwords: Passwords;
  readonly users: Users;
}

/** Refuses a caller that does not give the current password, if it has one; the first owner's own token replaces it. */
export function confirmPassword(ports: ConfirmPasswordPorts) {
  const throttled = throttle(ports);
  return async function (by: Principal, current: Secret | undefined, from: string): Promise<void> {
    const hash = await ports.users.passwordHash(by.userId);
    if (!hash || (await recovers(by))) return;
    await throttled({ address: from, account: by.userId }, async () => {
      if (current && (await ports.passwords.verify(current, hash))) return;
      throw new Failure("forbidden", "wrong_password", 'Cannot change this: "current" is not the current password');
    });
  };

  /**
   * The operator's own token recovers a lost password; no other token may set one, or a leaked token becomes a login.
   */
  async function recovers(by: Principal): Promise<boolean> {
    return by.founder && by.credential.kind === "token" && ports.installation.isFounderToken(by.credential.id);
  }
}
