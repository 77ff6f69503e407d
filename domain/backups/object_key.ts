import { invalid } from "../failure.ts";

/** The limit of S3. */
const MAX_KEY_BYTES = 1_024;
/** File systems allow names of 255 bytes; this leaves room for the prefix of unfinished files. */
const MAX_NAME_BYTES = 220;
/** The name prefix of unfinished files. */
const PART = /^\.slipway-part-[0-9a-f]{12}-/;

const encoder = new TextEncoder();

/** Returns whether a key is valid in every kind of store: names separated by `/`, none of them empty, `.` or `..`. */
export function isObjectKey(key: string): boolean {
  if (!key.isWellFormed() || /\p{Cc}/u.test(key) || encoder.encode(key).length > MAX_KEY_BYTES) return false;
  return key.split("/").every(isName);
}

/** Throws for a string that is not a valid object key. */
export function checkObjectKey(key: string): void {
  if (isObjectKey(key)) return;
  throw invalid(
    "invalid_object_key",
    'Cannot use this name for an object: give names with "/" between them, without ".", ".." and control characters, ' +
      `each of at most ${MAX_NAME_BYTES} bytes`,
  );
}

/** Compares keys in the order of every store: by their UTF-8 bytes. */
export function compareKeys(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    const [left, right] = [a.charCodeAt(at), b.charCodeAt(at)];
    if (left !== right) return rank(left) - rank(right);
  }
  return a.length - b.length;
}

/** Returns a unique temporary name for a file until it is completely written. */
export function partName(name: string): string {
  return `.slipway-part-${crypto.getRandomValues(new Uint8Array(6)).toHex()}-${name}`;
}

/** Returns the final name of an unfinished file, or `undefined` for any other file. */
export function nameOfPart(name: string): string | undefined {
  const start = PART.exec(name)?.[0];
  return start === undefined ? undefined : name.slice(start.length);
}

/** Splits a key into folder and name; the folder of a plain name is empty. */
export function splitKey(key: string): { readonly folder: string; readonly name: string } {
  const slash = key.lastIndexOf("/");
  return { folder: slash < 0 ? "" : key.slice(0, slash), name: key.slice(slash + 1) };
}

function isName(name: string): boolean {
  if (name === "" || name === "." || name === "..") return false;
  return encoder.encode(name).length <= MAX_NAME_BYTES && !PART.test(name);
}

/** Ranks a UTF-16 code unit in UTF-8 order: UTF-16 sorts surrogate pairs before U+E000 to U+FFFF, UTF-8 after. */
function rank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit >= 0xe000 ? unit - 0x800 : unit + 0x2000;
}
