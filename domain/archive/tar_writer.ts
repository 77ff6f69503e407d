import { BLOCK_BYTES } from "./tar_header.ts";

/** An entry to write; `size` bytes and `tarPadding(size)` must follow its header. */
export interface PackedEntry {
  /** Relative path without a trailing slash. */
  readonly name: string;
  readonly kind: "file" | "folder" | "link";
  /** Zero for folders and links. */
  readonly size: number;
  /** Permission bits. */
  readonly mode: number;
  readonly modifiedMs: number;
  /** Target of a symlink. */
  readonly target?: string;
  /** Owner; defaults to root. */
  readonly uid?: number;
  readonly gid?: number;
}

/** The two zero blocks that end a tar archive. */
export const TAR_END: Uint8Array = new Uint8Array(2 * BLOCK_BYTES);

const MAX_NAME = 100;
const MAX_SIZE = 0o77777777777;
const MAX_OWNER = 0o7777777;
const TYPES = { file: "0", folder: "5", link: "2" } as const;
const encoder = new TextEncoder();

/** Returns the header of an entry, preceded by a pax header when a field does not fit the ustar format. */
export function tarHead(entry: PackedEntry): Uint8Array {
  const name = encoder.encode(entry.kind === "folder" ? `${entry.name}/` : entry.name);
  const target = encoder.encode(entry.target ?? "");
  const records: Uint8Array[] = [];
  if (name.length > MAX_NAME) records.push(record("path", name));
  if (target.length > MAX_NAME) records.push(record("linkpath", target));
  if (entry.size > MAX_SIZE) records.push(record("size", encoder.encode(`${entry.size}`)));
  for (const owner of ["uid", "gid"] as const) {
    if ((entry[owner] ?? 0) > MAX_OWNER) records.push(record(owner, encoder.encode(`${entry[owner]}`)));
  }
  const size = entry.size > MAX_SIZE ? 0 : entry.size;
  const own = header({ ...entry, size, type: TYPES[entry.kind], nameBytes: name, targetBytes: target });
  if (records.length === 0) return own;
  const extended = joined(records);
  const described = { mode: 0o644, modifiedMs: 0, size: extended.length, type: "x", targetBytes: new Uint8Array() };
  const head = header({ ...described, nameBytes: encoder.encode("PaxHeader") });
  return joined([head, extended, tarPadding(extended.length), own]);
}

/** Returns the zero bytes that fill the last block of content of this size. */
export function tarPadding(size: number): Uint8Array {
  return new Uint8Array((BLOCK_BYTES - (size % BLOCK_BYTES)) % BLOCK_BYTES);
}

interface HeaderFields {
  readonly nameBytes: Uint8Array;
  readonly targetBytes: Uint8Array;
  readonly type: string;
  readonly size: number;
  readonly mode: number;
  readonly modifiedMs: number;
  readonly uid?: number;
  readonly gid?: number;
}

function header(fields: HeaderFields): Uint8Array {
  const { nameBytes, targetBytes, type, size, mode, modifiedMs, uid = 0, gid = 0 } = fields;
  const block = new Uint8Array(BLOCK_BYTES);
  const text = (at: number, value: string) => block.set(encoder.encode(value), at);
  block.set(nameBytes.subarray(0, MAX_NAME));
  text(100, octal(mode & 0o7777, 8));
  text(108, octal(uid > MAX_OWNER ? 0 : uid, 8));
  text(116, octal(gid > MAX_OWNER ? 0 : gid, 8));
  text(124, octal(size, 12));
  text(136, octal(Math.min(Math.max(0, Math.floor(modifiedMs / 1_000)), MAX_SIZE), 12));
  text(148, " ".repeat(8));
  text(156, type);
  block.set(targetBytes.subarray(0, MAX_NAME), 157);
  text(257, "ustar\x0000");
  const sum = block.reduce((total, byte) => total + byte, 0);
  text(148, `${sum.toString(8).padStart(6, "0")}\0 `);
  return block;
}

function octal(value: number, length: number): string {
  return `${value.toString(8).padStart(length - 1, "0")}\0`;
}

/** Formats a pax record `<length> <key>=<value>\n`; the length includes itself. */
function record(key: string, value: Uint8Array): Uint8Array {
  const rest = key.length + value.length + 3;
  let length = rest + 1;
  while (`${length}`.length + rest !== length) length = `${length}`.length + rest;
  return joined([encoder.encode(`${length} ${key}=`), value, encoder.encode("\n")]);
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((total, piece) => total + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
