const FIRST = 1_000_000_000;
let last = 0;

/** A number of ten digits that no other process of this machine gives at the same time, and that fits in 31 bits. */
export function uniqueNumber(): number {
  // Process ids have at most seven digits.
  return FIRST + process.pid * 100 + (++last % 100);
}
