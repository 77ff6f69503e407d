/** What is looked up again and again takes at most this part of a processor. */
const SHARE = 1 / 20;
const LONGEST_MS = 250;

/** For how long the answer of a look counts that took so long, before it is worth another. */
export function goodForMs(spentMs: number): number {
  return Math.min(spentMs / SHARE, LONGEST_MS);
}
