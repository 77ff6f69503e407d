import { type PaxRecords, paxRecords } from "./pax_records.ts";
import { refusal, shown } from "./refusal.ts";
import { BLOCK_BYTES, type TarHeader, tarHeader } from "./tar_header.ts";

/** One entry of a tar archive; exactly `size` bytes follow it as `TarBytes`. */
export interface TarEntry extends TarHeader {
  readonly type: "entry";
}

/** The next bytes of the preceding entry. Only valid until the next call of `read`. */
export interface TarBytes {
  readonly type: "bytes";
  readonly bytes: Uint8Array;
}

/** Fields from extended headers that override those of the next entry. */
interface Overrides {
  readonly name?: Uint8Array;
  readonly target?: Uint8Array;
  readonly size?: number;
  readonly sparse?: boolean;
}

const MAX_EXTENDED_BYTES = 1024 * 1024;

/** Streaming parser for tar archives of any common format; buffers at most one header. */
export class TarReader {
  readonly #partial = new Uint8Array(BLOCK_BYTES);
  #filled = 0;
  /** Remaining bytes of the current entry, followed by `#padding` bytes. */
  #left = 0;
  #padding = 0;
  #extended: { readonly header: TarHeader; readonly bytes: Uint8Array } | undefined;
  #overrides: Overrides | undefined;
  #ended = false;

  /** Parses the next chunk and yields its entries and bytes. Must be iterated to its end before the next call. */
  *read(chunk: Uint8Array): Generator<TarEntry | TarBytes> {
    for (let at = 0; at < chunk.length;) {
      if (this.#left > 0) {
        const bytes = chunk.subarray(at, at + this.#left);
        at += bytes.length;
        if (this.#extended === undefined) yield { type: "bytes", bytes };
        else this.#extend(bytes);
        this.#left -= bytes.length;
        if (this.#left === 0) this.#applyExtended();
      } else if (this.#padding > 0) {
        const skipped = Math.min(this.#padding, chunk.length - at);
        this.#padding -= skipped;
        at += skipped;
      } else {
        const taken = Math.min(BLOCK_BYTES - this.#filled, chunk.length - at);
        this.#partial.set(chunk.subarray(at, at + taken), this.#filled);
        this.#filled += taken;
        at += taken;
        if (this.#filled < BLOCK_BYTES) continue;
        this.#filled = 0;
        const entry = this.#header(this.#partial);
        if (entry !== undefined) yield entry;
      }
    }
  }

  /** Throws when the archive is incomplete or something follows its end. */
  finish(): void {
    if (!this.#ended || this.#overrides !== undefined) {
      throw refusal("archive_broken", "the tar is cut short; pack the folder again");
    }
    if (!isZero(this.#partial.subarray(0, this.#filled))) throw trailing();
  }

  #header(block: Uint8Array): TarEntry | undefined {
    if (isZero(block)) {
      this.#ended = true;
      return undefined;
    }
    if (this.#ended) throw trailing();
    const header = tarHeader(block);
    switch (header.kind) {
      case "extended":
      case "global_extended":
      case "long_name":
      case "long_target":
        this.#startExtended(header);
        return undefined;
      default:
        return this.#entry(header);
    }
  }

  #entry(header: TarHeader): TarEntry {
    const { sparse, ...overrides } = this.#overrides ?? {};
    this.#overrides = undefined;
    const whole = { ...header, ...overrides };
    // Old tar programs mark a folder only by a trailing slash in its name.
    const kind = sparse ? "sparse" : whole.kind === "file" && whole.name.at(-1) === 0x2f ? "folder" : whole.kind;
    // Only files have content, although some programs write a size for folders and links.
    const size = kind === "file" ? whole.size : 0;
    this.#expect(size);
    return { ...whole, type: "entry", kind, size };
  }

  #startExtended(header: TarHeader): void {
    if (header.size > MAX_EXTENDED_BYTES) {
      throw refusal(
        "archive_header_too_large",
        `an extended header of ${header.size} bytes is over the limit of ${MAX_EXTENDED_BYTES} bytes; pack without extended attributes`,
      );
    }
    this.#extended = { header, bytes: new Uint8Array(header.size) };
    this.#expect(header.size);
    if (header.size === 0) this.#applyExtended();
  }

  #expect(size: number): void {
    this.#left = size;
    this.#padding = (BLOCK_BYTES - (size % BLOCK_BYTES)) % BLOCK_BYTES;
  }

  #extend(bytes: Uint8Array): void {
    const { header, bytes: whole } = this.#extended!;
    whole.set(bytes, header.size - this.#left);
  }

  #applyExtended(): void {
    if (this.#extended === undefined) return;
    const { header, bytes } = this.#extended;
    this.#extended = undefined;
    if (header.kind === "global_extended") return refuseGlobal(paxRecords(bytes));
    this.#overrides = { ...this.#overrides, ...overridesOf(header, bytes) };
  }
}

function overridesOf(header: TarHeader, bytes: Uint8Array): Overrides {
  if (header.kind === "long_name") return { name: untilNul(bytes) };
  if (header.kind === "long_target") return { target: untilNul(bytes) };
  const { path, linkPath, size, sparse } = paxRecords(bytes);
  return {
    ...(path === undefined ? {} : { name: path }),
    ...(linkPath === undefined ? {} : { target: linkPath }),
    ...(size === undefined ? {} : { size }),
    ...(sparse ? { sparse } : {}),
  };
}

/** Allows a global header with comments, such as git's, but refuses one that sets a name or size for every entry. */
function refuseGlobal({ path, linkPath, size, sparse }: PaxRecords): void {
  if (path === undefined && linkPath === undefined && size === undefined && !sparse) return;
  const named = path ?? linkPath;
  throw refusal(
    "archive_broken",
    `a global header sets ${named === undefined ? "the size" : `the name ${shown(named)}`} for every entry`,
  );
}

function untilNul(bytes: Uint8Array): Uint8Array {
  const end = bytes.indexOf(0);
  return end === -1 ? bytes : bytes.slice(0, end);
}

function isZero(bytes: Uint8Array): boolean {
  for (const byte of bytes) if (byte !== 0) return false;
  return true;
}

function trailing(): Error {
  return refusal("archive_broken", "there is data after the end of the tar; send one archive only");
}
