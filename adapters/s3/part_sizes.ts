const MIB = 1024 * 1024;

/** Number and size of the parts of a large object. Equal sizes as long as possible, which some stores require. */
const SIZES = [
  { parts: 6_000, bytes: 8 * MIB },
  { parts: 3_000, bytes: 64 * MIB },
  { parts: 1_000, bytes: 256 * MIB },
] as const;

/** Bytes of parts that are buffered or in flight at once, unless a single part is larger. */
const IN_MEMORY = 40 * MIB;

/** Returns the size of a part by its number, counted from 1, or `undefined` past the last part that S3 accepts. */
export function partSize(number: number): number | undefined {
  let before = 0;
  for (const { parts, bytes } of SIZES) {
    before += parts;
    if (number <= before) return bytes;
  }
  return undefined;
}

/** Returns how many parts of a size may be in flight at once. */
export function partsAtOnce(bytes: number): number {
  return Math.max(1, Math.floor(IN_MEMORY / bytes) - 1);
}
