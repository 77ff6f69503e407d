let last = 0;

/** A number that no other process of this machine gives at the same time, and this one only once; it has at most twelve digits. */
export function uniqueNumber(): number {
  // Process ids have at most seven digits.
  return process.pid * 100_000 + (++last % 100_000);
}
