import { refusal, shown } from "./refusal.ts";

const MAX_PART_BYTES = 255;
const MAX_NAME_BYTES = 4096;
const MAX_PARTS = 256;
const SLASH = 0x2f;
const BACKSLASH = 0x5c;

// `ignoreBOM` keeps a leading U+FEFF, so that two different names never become one.
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Splits a name into segments, without `.` and empty ones; none for the root. Throws if it is unsafe to create. */
export function entryName(bytes: Uint8Array): string[] {
  const refused = (reason: string) => refusal("archive_name_refused", `the name ${shown(bytes)} ${reason}`);
  const parts: string[] = [];
  for (const piece of pieces(bytes, refused)) {
    // Decodes segment by segment: a substring of a long string would keep the whole string in memory.
    const part = decoded(piece, refused);
    if (part === "..") throw refused('leads out of the folder with ".."; pack the folder from inside it');
    if (part !== ".") parts.push(part);
    if (parts.length > MAX_PARTS) throw refused(`is more than ${MAX_PARTS} folders deep`);
  }
  if (isDrive(parts[0] ?? "")) throw refused("begins with a drive letter; use names relative to the folder");
  return parts;
}

/** Decodes a symlink target; `..` is allowed. Throws for a target that is absolute or not a valid path. */
export function linkTarget(name: Uint8Array, bytes: Uint8Array): string {
  const refused = (reason: string) =>
    refusal("archive_link_refused", `the target ${shown(bytes)} of the link ${shown(name)} ${reason}`);
  const [first = new Uint8Array()] = pieces(bytes, refused);
  if (isDrive(decoded(first, refused))) throw refused("begins with a drive letter; use links inside the folder");
  return decoded(bytes, refused);
}

/** Splits a path at slashes; throws if it cannot be a relative path. */
function pieces(bytes: Uint8Array, refused: (reason: string) => Error): Uint8Array[] {
  if (bytes.length === 0) throw refused("is empty");
  if (bytes.length > MAX_NAME_BYTES) throw refused(`is longer than ${MAX_NAME_BYTES} bytes`);
  if (bytes[0] === SLASH) throw refused("is absolute; use names relative to the folder");
  if (bytes.includes(0)) throw refused("contains a NUL");
  if (bytes.includes(BACKSLASH)) throw refused("contains a backslash");
  const found: Uint8Array[] = [];
  for (let start = 0; start < bytes.length;) {
    const slash = bytes.indexOf(SLASH, start);
    const end = slash === -1 ? bytes.length : slash;
    if (end - start > MAX_PART_BYTES) throw refused(`has a part longer than ${MAX_PART_BYTES} bytes`);
    if (end > start) found.push(bytes.subarray(start, end));
    start = end + 1;
  }
  return found;
}

function isDrive(part: string): boolean {
  return /^[A-Za-z]:$/.test(part);
}

function decoded(bytes: Uint8Array, refused: (reason: string) => Error): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw refused("is not UTF-8");
  }
}
