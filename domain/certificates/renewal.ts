import type { Failure } from "../failure.ts";
import type { Certificate } from "./certificate.ts";

const FIRST_RETRY_MS = 60_000;
const LAST_RETRY_MS = 24 * 3_600_000;
/** A longer wait that an authority asks for is cut to this. */
const LONGEST_WAIT_MS = 7 * 24 * 3_600_000;
/** The longest pauses of all orders after a failure of one, by its code. */
const LONGEST_PAUSES_MS = new Map([
  ["authority_unreachable", 3_600_000],
  ["authority_limited", 24 * 3_600_000],
]);
const RENEWED_AFTER = 2 / 3;
/** The share of the life, or of a pause, by which times are spread. */
const SPREAD = 0.05;

/**
 * Returns when to renew a certificate: after two thirds of its life, or a little earlier, so that certificates that were
 * issued together are not renewed together. `chance` is from 0 to 1.
 */
export function renewalTime(
  { notBefore, notAfter }: Pick<Certificate, "notBefore" | "notAfter">,
  chance: number,
): Date {
  const lifeMs = notAfter.getTime() - notBefore.getTime();
  return new Date(notBefore.getTime() + lifeMs * (RENEWED_AFTER - SPREAD * chance));
}

/**
 * Returns how long to wait after a failed order: a minute after the first failure, twice as long after each further one,
 * a day at most; but not less than the authority asks for. `chance` is from 0 to 1 and spreads the attempts.
 */
export function retryDelayMs(
  failures: number,
  { chance, retryAfter = 0 }: { readonly chance: number; readonly retryAfter?: number | undefined },
): number {
  const delayMs = Math.min(FIRST_RETRY_MS * 2 ** Math.min(failures - 1, 20), LAST_RETRY_MS);
  const wantedMs = Math.min(retryAfter * 1_000, LONGEST_WAIT_MS);
  return Math.round(Math.max(delayMs, wantedMs) * (1 + SPREAD * chance));
}

/**
 * Returns how long no other order is begun after a failure: as long as the authority asks for if other names would fail
 * as well, but at least `leastMs`, and an hour at most while it is away, a day for a limit. Returns 0 for other failures.
 */
export function pauseAfterMs({ code, retryAfter = 0 }: Pick<Failure, "code" | "retryAfter">, leastMs: number): number {
  const longestMs = LONGEST_PAUSES_MS.get(code);
  return longestMs === undefined ? 0 : Math.max(leastMs, Math.min(retryAfter * 1_000, longestMs));
}
