import type { CertificateOrder } from "../../domain/certificates/certificate_order.ts";
import { Failure } from "../../domain/failure.ts";
import type { AttemptLimit, Attempts } from "../../ports/identity/attempts.ts";

const TOO_MANY = "too_many_renewals";
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

/**
 * Limits how often a person can have certificates of a name ordered, in all processes together: by requests, or by
 * removing the domain and claiming it again.
 */
export function renewalLimits({ attempts }: { readonly attempts: Attempts }) {
  return {
    /** Rejects with a `throttled` failure when no more may be ordered for now. */
    async check(hostname: string): Promise<void> {
      for (const limit of [ISSUED, REFUSED]) await checkOne(hostname, limit);
    },
    /**
     * Counts an order as a certificate, by whomever it is made. Rejects like `check()` if it is the first one of its
     * domain. Returns whether it was counted: a renewal beyond the limit is not.
     */
    async begin(order: CertificateOrder, { isFirst }: { readonly isFirst: boolean }): Promise<boolean> {
      const { hostname } = order;
      // Further attempts have growing pauses.
      if (isFirst && order.attempts === 0) await checkOne(hostname, REFUSED);
      const wait = await attempts.take(keyOf(ISSUED, hostname), ISSUED);
      if (isFirst && wait > 0) throw tooMany(hostname, ISSUED, wait);
      return wait === 0;
    },
    /** Takes a counted order back that got no certificate. */
    giveBack: (hostname: string) => attempts.giveBack(keyOf(ISSUED, hostname), ISSUED),
    /** Counts an order that the authority has refused: one of a person, or the first attempt of another. */
    noteRefused: (hostname: string) => attempts.take(keyOf(REFUSED, hostname), REFUSED),
  };

  async function checkOne(hostname: string, limit: RenewalLimit): Promise<void> {
    const wait = await attempts.take(keyOf(limit, hostname), limit);
    if (wait > 0) throw tooMany(hostname, limit, wait);
    await attempts.giveBack(keyOf(limit, hostname), limit);
  }
}

/** Returns whether a failure only means that a limit of the host name holds an order up. */
export function isHeldUp(error: unknown): boolean {
  return error instanceof Failure && error.code === TOO_MANY;
}

function keyOf({ key }: RenewalLimit, hostname: string): string {
  return `certificate:${key}:${hostname}`;
}

function tooMany(hostname: string, { why }: RenewalLimit, wait: number): Failure {
  const sentence = `Cannot order a certificate for ${hostname} yet: ${why}. Wait ${duration(wait)}`;
  return new Failure("throttled", TOO_MANY, sentence, { retryAfter: wait });
}

function duration(seconds: number): string {
  if (seconds < 120) return `${seconds} seconds`;
  if (seconds < 2 * HOUR_S) return `${Math.ceil(seconds / 60)} minutes`;
  return seconds < 48 * HOUR_S ? `${Math.ceil(seconds / HOUR_S)} hours` : `${Math.ceil(seconds / HOUR_S / 24)} days`;
}
