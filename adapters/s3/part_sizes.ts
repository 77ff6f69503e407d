const MIB = 1024 * 1024;

/** How many parts of which size a large object consists of: equal ones as long as possible, which some stores insist on. */
const SIZES = [
  { parts: 6_000, bytes: 8 * MIB },
  { parts: 3_000, bytes: 64 * MIB },
  { parts: 1_000, bytes: 256 * MIB },
] as const;

/** Bytes of parts that are on their way or being filled at once, unless one part alone is larger. */
const IN_MEMORY = 40 * MIB;

/** The size of a part by its number, from 1; `undefined` past the last that S3 takes. */
export function partSize(number: number): number | undefined {
  let before = 0;
  for (const { parts, bytes } of SIZES) {
    before += parts;
    if (number <= before) return bytes;
  }
  return undefined;
}

/** How many parts of a size may be on their way at once. */
export function partsAtOnce(bytes: number): number {
  return Math.max(1, Math.floor(IN_MEMORY / bytes) - 1);
}
