import { invalid } from "../failure.ts";

/** S3 takes 1,024 bytes. */
const MAX_KEY_BYTES = 1_024;
/** File systems take names of 255 bytes; some room is left for what a name gets while it is written. */
const MAX_NAME_BYTES = 220;
/** The beginning of the names that unfinished files have. */
const PART = /^\.slipway-part-[0-9a-f]{12}-/;

const encoder = new TextEncoder();

/** Whether a text can name an object in every kind of store: names with `/` between them, none of them empty, `.` or `..`. */
export function isObjectKey(key: string): boolean {
  if (!key.isWellFormed() || /\p{Cc}/u.test(key) || encoder.encode(key).length > MAX_KEY_BYTES) return false;
  return key.split("/").every(isName);
}

/** Refuses a text that cannot name an object. */
export function checkObjectKey(key: string): void {
  if (isObjectKey(key)) return;
  throw invalid(
    "invalid_object_key",
    'Cannot use this name for an object: give names with "/" between them, without ".", ".." and control characters, ' +
      `each of at most ${MAX_NAME_BYTES} bytes`,
  );
}

/** Orders keys as every store does: by their bytes in UTF-8. */
export function compareKeys(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    const [left, right] = [a.charCodeAt(at), b.charCodeAt(at)];
    if (left !== right) return rank(left) - rank(right);
  }
  return a.length - b.length;
}

/** The name that a file has until all of it is written; another one each time. */
export function partName(name: string): string {
  return `.slipway-part-${crypto.getRandomValues(new Uint8Array(6)).toHex()}-${name}`;
}

/** The name that an unfinished file would have got, or `undefined` for any other. */
export function nameOfPart(name: string): string | undefined {
  const start = PART.exec(name)?.[0];
  return start === undefined ? undefined : name.slice(start.length);
}

/** The folder and the name that a key consists of; the folder of a plain name is empty. */
export function splitKey(key: string): { readonly folder: string; readonly name: string } {
  const slash = key.lastIndexOf("/");
  return { folder: slash < 0 ? "" : key.slice(0, slash), name: key.slice(slash + 1) };
}

function isName(name: string): boolean {
  if (name === "" || name === "." || name === "..") return false;
  return encoder.encode(name).length <= MAX_NAME_BYTES && !PART.test(name);
}

/** UTF-16 puts what needs two units before the last 8,192 characters of one; UTF-8 has them in order. */
function rank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit >= 0xe000 ? unit - 0x800 : unit + 0x2000;
}
