import type { Secret } from "../../domain/secret.ts";
import { fingerprint } from "../../domain/identity/token.ts";
import type { Passwords } from "../../ports/identity/passwords.ts";

/** Hashes passwords cheaply, each with its own salt. Not for real passwords. */
export class MemoryPasswords implements Passwords {
  async hash(password: Secret): Promise<string> {
    return salted(password, crypto.randomUUID());
  }

  async verify(password: Secret, hash: string | undefined): Promise<boolean> {
    const salt = hash?.split("$")[1] ?? "";
    return (await salted(password, salt)) === hash;
  }
}

async function salted(password: Secret, salt: string): Promise<string> {
  return `memory$${salt}$${fingerprint(`${salt} ${password.reveal()}`)}`;
}
