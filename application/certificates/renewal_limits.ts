import { Failure } from "../../domain/failure.ts";
import type { AttemptLimit, Attempts } from "../../ports/identity/attempts.ts";

const HOUR_S = 3_600;
const HOUR_MS = HOUR_S * 1_000;

interface RenewalLimit extends AttemptLimit {
  readonly key: string;
  /** Why no more is ordered. */
  readonly why: string;
}

/**
 * What one name may cost at the authority. Let's Encrypt issues five certificates for the same name per week, and refuses
 * a name after five failures in an hour; its limits on orders are for the whole installation.
 */
const ISSUED: RenewalLimit = {
  key: "issued",
  limit: 5,
  windowMs: 7 * 24 * HOUR_MS,
  why: "five certificates were issued for it within seven days",
};
const REFUSED: RenewalLimit = {
  key: "refused",
  limit: 5,
  windowMs: HOUR_MS,
  why: "the authority has refused five orders of it within an hour",
};

/** Limits how often a person can have certificates of a name ordered, in all processes together. */
export function renewalLimits({ attempts }: { readonly attempts: Attempts }) {
  return {
    /** Rejects with a `throttled` failure when no more may be ordered for now. */
    async check(hostname: string): Promise<void> {
      for (const limit of [ISSUED, REFUSED]) {
        const wait = await attempts.take(keyOf(limit, hostname), limit);
        if (wait > 0) throw tooMany(hostname, limit, wait);
        await attempts.giveBack(keyOf(limit, hostname), limit);
      }
    },
    /** Counts a certificate that was issued, by whatever order. */
    noteIssued: (hostname: string) => attempts.take(keyOf(ISSUED, hostname), ISSUED),
    /** Counts an order of a person that the authority has refused. */
    noteRefused: (hostname: string) => attempts.take(keyOf(REFUSED, hostname), REFUSED),
  };
}

function keyOf({ key }: RenewalLimit, hostname: string): string {
  return `certificate:${key}:${hostname}`;
}

function tooMany(hostname: string, { why }: RenewalLimit, wait: number): Failure {
  const sentence = `Cannot order a certificate for ${hostname} yet: ${why}. Wait ${duration(wait)}`;
  return new Failure("throttled", "too_many_renewals", sentence, { retryAfter: wait });
}

function duration(seconds: number): string {
  if (seconds < 120) return `${seconds} seconds`;
  if (seconds < 2 * HOUR_S) return `${Math.ceil(seconds / 60)} minutes`;
  return seconds < 48 * HOUR_S ? `${Math.ceil(seconds / HOUR_S)} hours` : `${Math.ceil(seconds / HOUR_S / 24)} days`;
}
