/** Maximum share of CPU time that a repeated lookup may use. */
const SHARE = 1 / 20;
const LONGEST_MS = 250;

/** Returns how long to cache the result of a lookup that took `spentMs`; at most 250 ms. */
export function cacheDurationMs(spentMs: number): number {
  return Math.min(spentMs / SHARE, LONGEST_MS);
}
