const FIRST = 1_000_000_000;
let last = 0;

/** A number of ten digits that fits in 31 bits and that no other process of this machine returns at the same time. */
export function uniqueNumber(): number {
  // Process ids have at most seven digits.
  return FIRST + process.pid * 100 + (++last % 100);
}
