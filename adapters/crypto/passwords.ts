import { Failure, invalid } from "../../domain/failure.ts";
import type { Secret } from "../../domain/secret.ts";
import type { Passwords } from "../../ports/identity/passwords.ts";

const AT_ONCE = 2;
const MAX_WAITING = 200;
const COST = { memoryCost: 65_536, timeCost: 2 };

/**
 * Hash, with `COST`, of a random string that was not kept. Verified for unknown users, so that timing does not reveal
 * them.
 */
const DUMMY_HASH =
  "$argon2id$v=19$m=65536,t=2,p=1$3ngRinrk0vxHGsaPN1k1OU+MIlWpeHMofi5Qf4ihtGk$DEIVlafjai1359ad1c2885zpZ9v+mxvdhb1bDURm4pE";

/**
 * Hashes passwords with argon2id, two at a time: each takes 64 MiB, and logins must not exhaust the memory. Throws
 * `passwords_busy` when 200 others wait.
 */
export class ArgonPasswords implements Passwords {
  readonly #cost: { readonly memoryCost: number; readonly timeCost: number };
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(cost = COST) {
    this.#cost = cost;
  }

  async hash(password: Secret): Promise<string> {
    if (password.reveal() === "") throw invalid("invalid_password", "Cannot use this password: it is empty");
    return this.#inTurn(() => Bun.password.hash(password.reveal(), { algorithm: "argon2id", ...this.#cost }));
  }

  async verify(password: Secret, hash: string | undefined): Promise<boolean> {
    return this.#inTurn(async () => {
      const matches = await Bun.password.verify(password.reveal(), hash ?? DUMMY_HASH).catch(() => false);
      return matches && hash !== undefined;
    });
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= AT_ONCE) await this.#wait();
    else this.#running++;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running--;
    }
  }

  #wait(): Promise<void> {
    if (this.#waiting.length >= MAX_WAITING) {
      const sentence = "Cannot check a password now: too many others are waiting. Try again in a moment";
      throw new Failure("unavailable", "passwords_busy", sentence, { retryAfter: 5 });
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}
