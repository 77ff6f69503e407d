import { beyondLimit } from "./refusal.ts";

/** Size limits of one archive. */
export interface ArchiveLimits {
  /** Compressed bytes, counted as they arrive. */
  readonly maxBytes: number;
  /** Bytes after decompression, including tar headers and padding. */
  readonly maxUnpackedBytes: number;
  /** Entries of the archive plus the folders they imply. */
  readonly maxEntries: number;
}

/** Throws when more compressed bytes than allowed have arrived. */
export function checkBytes(bytes: number, { maxBytes }: ArchiveLimits): void {
  if (bytes <= maxBytes) return;
  throw beyondLimit(
    "upload_too_large",
    `it is larger than the limit of ${amount(maxBytes)}; leave out what the build does not need`,
  );
}

/** Throws when the archive unpacks, or declares that it will unpack, to more bytes than allowed. */
export function checkUnpackedBytes(bytes: number, { maxUnpackedBytes }: ArchiveLimits): void {
  if (bytes <= maxUnpackedBytes) return;
  throw beyondLimit(
    "upload_unpacks_too_large",
    `it unpacks to more than the limit of ${amount(maxUnpackedBytes)}; leave out what the build does not need`,
  );
}

/** Throws when the archive has more entries than allowed. */
export function checkEntries(entries: number, maxEntries: number): void {
  if (entries <= maxEntries) return;
  throw beyondLimit(
    "upload_too_many_entries",
    `it has more than the limit of ${maxEntries} files, folders and links; leave out what the build does not need`,
  );
}

const UNITS = ["bytes", "KiB", "MiB", "GiB", "TiB"];

function amount(bytes: number): string {
  let unit = 0;
  let value = bytes;
  while (value >= 1024 && value % 1024 === 0 && unit < UNITS.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${value} ${UNITS[unit]}`;
}
