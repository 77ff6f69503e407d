import type { Failure } from "../../domain/failure.ts";

/** Limits of one upload. */
export interface UploadLimits {
  /** Compressed bytes, as received. */
  readonly maxBytes: number;
  /** Bytes after decompression, including the archive's own headers and padding. */
  readonly maxUnpackedBytes: number;
  /** Files, folders and links, including the folders that their paths imply. */
  readonly maxEntries: number;
}

/** Facts about an accepted upload. */
export interface ReceivedUpload {
  /** Compressed size. */
  readonly bytes: number;
  /** Lower-case hexadecimal SHA-256 of the compressed bytes. */
  readonly sha256: string;
  /** How many regular files were unpacked. */
  readonly files: number;
}

/** One entry of an unpacked upload. `path` is relative and uses `/` as its separator. */
export interface TreeEntry {
  readonly path: string;
  readonly type: "file" | "folder" | "link";
  readonly size: number;
}

/** How much of a file may be read. */
export interface ReadOptions {
  readonly maxBytes: number;
  /** Returns the failure to reject with when the file is larger. Absent: a larger file counts as absent. */
  readonly tooLarge?: () => Failure;
}

/** Options of `receive`. */
export interface ReceiveOptions {
  readonly limits: UploadLimits;
  readonly signal?: AbortSignal;
  /** Rejects when the received upload must not be kept after all. */
  readonly confirm?: () => Promise<void>;
}

/** Options of `copyTo`. */
export interface CopyToOptions {
  readonly signal?: AbortSignal;
  /** Lets the copy share its bytes with the stored upload. */
  readonly shared?: boolean;
}

/** Stores the unpacked folders of upload sessions, separated by id. */
export interface UploadFiles {
  /**
   * Unpacks a gzipped tar stream in constant memory. Resolves only after the whole archive was read, validated and
   * written, and `confirm`, which runs last, resolved. Rejects with a `Failure` (`invalid` for a hostile or broken
   * archive, `too_large` beyond a limit, `unavailable` when the disk is full), with the reason of `confirm`, or with
   * the signal's reason when aborted, and then keeps nothing of it. Only a success replaces the result of an earlier
   * call for `id`.
   */
  receive(id: string, archive: ReadableStream<Uint8Array>, options: ReceiveOptions): Promise<ReceivedUpload>;
  /**
   * Yields the entries of a stored upload, sorted by path, without following symlinks. Yields nothing for an unknown
   * id.
   */
  list(id: string): AsyncIterable<TreeEntry>;
  /**
   * Reads one regular file, never through symlinks that leave the folder. Returns `undefined` when it is absent or too
   * large.
   */
  read(id: string, path: string, options: ReadOptions): Promise<Uint8Array | undefined>;
  /**
   * Copies a stored upload into an existing empty folder on this machine. The stored upload does not change, so that an
   * interrupted copy can be repeated. Rejects with a `not_found` failure for an unknown id, and with the signal's
   * reason when aborted. With `shared`, the files of the copy must never be written to.
   */
  copyTo(id: string, folder: string, options?: CopyToOptions): Promise<void>;
  /**
   * Packs a stored upload as a gzipped tar archive, which `receive` accepts. Rejects with a `not_found` failure for an
   * unknown id. The stream fails when the upload is removed or replaced meanwhile.
   */
  archive(id: string): Promise<ReadableStream<Uint8Array>>;
  /** Removes everything stored under `id`, unfinished parts included. An unknown id is no error. */
  discard(id: string): Promise<void>;
  /** Yields every id that occupies space, with its last modification time. */
  stored(): AsyncIterable<{ readonly id: string; readonly changedAt: Date }>;
}
