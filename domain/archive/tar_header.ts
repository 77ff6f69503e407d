import { refusal } from "./refusal.ts";

/** Length of a header, and the unit of everything else in a tar archive. */
export const BLOCK_BYTES = 512;

/** The type of a tar entry; `extended` and the `long_` kinds describe the entry that follows them. */
export type TarKind =
  | "file"
  | "folder"
  | "link"
  | "hard_link"
  | "device"
  | "fifo"
  | "sparse"
  | "unknown"
  | "extended"
  | "global_extended"
  | "long_name"
  | "long_target";

/** One decoded header block; names are bytes and not validated yet. */
export interface TarHeader {
  readonly kind: TarKind;
  readonly name: Uint8Array;
  readonly target: Uint8Array;
  readonly size: number;
  readonly executable: boolean;
}

/** "ustar" and a NUL. */
const POSIX_MAGIC = [0x75, 0x73, 0x74, 0x61, 0x72, 0];

const KINDS: Readonly<Record<string, TarKind>> = {
  "\0": "file",
  "0": "file",
  "7": "file",
  "1": "hard_link",
  "2": "link",
  "3": "device",
  "4": "device",
  "5": "folder",
  "6": "fifo",
  S: "sparse",
  x: "extended",
  g: "global_extended",
  L: "long_name",
  K: "long_target",
};

/** Decodes a header block of any tar format (v7, ustar, pax, GNU); throws when its checksum does not match. */
export function tarHeader(block: Uint8Array): TarHeader {
  if (number(block, 148, 8) !== checksum(block)) {
    throw refusal("archive_broken", "a header in the tar does not match its checksum; pack the folder again");
  }
  const size = number(block, 124, 12);
  const mode = number(block, 100, 8);
  if (size === undefined || mode === undefined) {
    throw refusal("archive_broken", "a header in the tar has an unreadable number; pack the folder again");
  }
  return {
    kind: KINDS[String.fromCharCode(block[156] ?? 0)] ?? "unknown",
    name: name(block),
    target: field(block, 157, 100),
    size,
    executable: (mode & 0o111) !== 0,
  };
}

function checksum(block: Uint8Array): number {
  let sum = 8 * 0x20;
  for (let index = 0; index < BLOCK_BYTES; index++) {
    if (index < 148 || index >= 156) sum += block[index]!;
  }
  return sum;
}

/** Parses octal digits terminated by a space or NUL, or base-256 if the first bit is set; otherwise `undefined`. */
function number(block: Uint8Array, start: number, length: number): number | undefined {
  const end = start + length;
  if ((block[start]! & 0x80) !== 0) {
    let value = block[start]! & 0x7f;
    for (let at = start + 1; at < end; at++) value = value * 256 + block[at]!;
    return Number.isSafeInteger(value) ? value : undefined;
  }
  let at = start;
  while (at < end && isFiller(block[at]!)) at++;
  let value = 0;
  for (; at < end && !isFiller(block[at]!); at++) {
    const digit = block[at]! - 0x30;
    if (digit < 0 || digit > 7) return undefined;
    value = value * 8 + digit;
  }
  return value;
}

function isFiller(byte: number): boolean {
  return byte === 0x20 || byte === 0;
}

function name(block: Uint8Array): Uint8Array {
  const own = field(block, 0, 100);
  if (!isPosix(block) || block[345] === 0) return own;
  const prefix = field(block, 345, 155);
  const whole = new Uint8Array(prefix.length + 1 + own.length);
  whole.set(prefix);
  whole[prefix.length] = 0x2f;
  whole.set(own, prefix.length + 1);
  return whole;
}

/** Only POSIX headers have a name prefix; GNU headers store timestamps there. */
function isPosix(block: Uint8Array): boolean {
  return POSIX_MAGIC.every((byte, index) => block[257 + index] === byte);
}

/** Returns a copy, because the block buffer is reused for the next header. */
function field(block: Uint8Array, start: number, length: number): Uint8Array {
  const end = block.indexOf(0, start);
  return block.slice(start, end === -1 ? start + length : Math.min(end, start + length));
}
