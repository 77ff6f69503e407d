import { refusal } from "./refusal.ts";

/** The records of a pax header that affect the next entry; all others are ignored. */
export interface PaxRecords {
  readonly path?: Uint8Array;
  readonly linkPath?: Uint8Array;
  readonly size?: number;
  /** Whether the entry is stored as a sparse file. */
  readonly sparse: boolean;
}

const SPACE = 0x20;
const EQUALS = 0x3d;
const NEWLINE = 0x0a;
const latin1 = (bytes: Uint8Array) => String.fromCharCode(...bytes);

/** Parses `<length> <key>=<value>\n` records; throws when one is malformed. */
export function paxRecords(bytes: Uint8Array): PaxRecords {
  let records: PaxRecords = { sparse: false };
  for (let start = 0; start < bytes.length;) {
    const space = bytes.subarray(start, start + 12).indexOf(SPACE);
    const digits = latin1(bytes.subarray(start, start + Math.max(space, 0)));
    const end = start + Number(digits);
    const equals = bytes.indexOf(EQUALS, start);
    if (!/^[1-9]\d*$/.test(digits) || end > bytes.length || bytes[end - 1] !== NEWLINE) throw broken();
    if (equals === -1 || equals >= end) throw broken();
    records = withRecord(records, bytes.subarray(start + space + 1, equals), bytes.slice(equals + 1, end - 1));
    start = end;
  }
  return records;
}

function withRecord(records: PaxRecords, key: Uint8Array, value: Uint8Array): PaxRecords {
  // No relevant key is longer. The limit keeps a hostile key from overflowing the stack when it is spread as arguments.
  const word = latin1(key.subarray(0, 64));
  if (word.startsWith("GNU.sparse.")) return { ...records, sparse: true };
  if (value.length === 0) return records;
  if (word === "path") return { ...records, path: value };
  if (word === "linkpath") return { ...records, linkPath: value };
  if (word !== "size") return records;
  const digits = latin1(value.subarray(0, 20));
  if (!/^\d{1,15}$/.test(digits)) throw broken();
  return { ...records, size: Number(digits) };
}

function broken(): Error {
  return refusal("archive_broken", "an extended header in the tar is malformed; pack the folder again");
}
