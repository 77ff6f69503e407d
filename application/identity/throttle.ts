import { Failure } from "../../domain/failure.ts";
import { networkOf } from "../../domain/network_address.ts";
import type { Attempts } from "../../ports/identity/attempts.ts";

const MINUTE = 60_000;

/**
 * Rate limits, in failed attempts per minute: one address on one account, one address in total, one account in total.
 */
const LIMITS = { pair: 10, address: 50, account: 100 } as const;

/** Runs a guess at a secret unless too many have failed (rate limit). Only failures count, even under concurrency. */
export function throttle({ attempts }: { readonly attempts: Attempts }) {
  return async function <T>(
    who: { readonly address: string; readonly account: string },
    guess: () => Promise<T>,
  ): Promise<T> {
    const address = networkOf(who.address);
    // Widest key first: an attempt that is refused there is not counted at the narrower ones.
    const keys = [
      [`address:${address}`, LIMITS.address],
      [`account:${who.account}`, LIMITS.account],
      [`pair:${address}:${who.account}`, LIMITS.pair],
    ] as const;
    const taken: (typeof keys)[number][] = [];
    const giveBack = async () => {
      for (const [key, limit] of taken) await attempts.giveBack(key, { limit, windowMs: MINUTE });
    };
    try {
      for (const each of keys) {
        const [key, limit] = each;
        const wait = await attempts.take(key, { limit, windowMs: MINUTE });
        if (wait > 0) throw tooMany(wait);
        taken.push(each);
      }
    } catch (error) {
      await giveBack().catch(() => {});
      throw error;
    }
    const result = await guess().catch(async (error: unknown) => {
      // An outage says nothing about the guess; during one, the store of attempts may be away too.
      if (error instanceof Failure && error.kind === "unavailable") await giveBack().catch(() => {});
      throw error;
    });
    await giveBack();
    return result;
  };
}

function tooMany(wait: number): Failure {
  const sentence = `Cannot try again yet: too many attempts failed. Wait ${wait} seconds`;
  return new Failure("throttled", "too_many_attempts", sentence, { retryAfter: wait });
}
