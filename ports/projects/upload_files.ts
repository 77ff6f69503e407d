/** Bounds that one upload must stay within. */
export interface UploadLimits {
  /** Compressed bytes as they arrive. */
  readonly maxBytes: number;
  /** Bytes after decompression, the archive's own headers and padding included. */
  readonly maxUnpackedBytes: number;
  /** Files, folders and links, with the folders that their names imply. */
  readonly maxEntries: number;
}

/** What an accepted upload turned out to be. */
export interface ReceivedUpload {
  /** Compressed size. */
  readonly bytes: number;
  /** Lower-case hexadecimal SHA-256 of the compressed bytes. */
  readonly sha256: string;
  /** How many regular files were unpacked. */
  readonly files: number;
}

/** One entry of an unpacked upload; `path` is relative, with `/` between its parts. */
export interface TreeEntry {
  readonly path: string;
  readonly type: "file" | "folder" | "link";
  readonly size: number;
}

/** How an upload is received. */
export interface ReceiveOptions {
  readonly limits: UploadLimits;
  readonly signal?: AbortSignal;
  /** Rejects when what was received must not be kept after all. */
  readonly confirm?: () => Promise<void>;
}

/** How an upload is copied. */
export interface CopyToOptions {
  readonly signal?: AbortSignal;
  /** Lets the copy share its bytes with what is kept. */
  readonly shared?: boolean;
}

/** Keeps the unpacked folders of upload sessions, apart from each other by id. */
export interface UploadFiles {
  /**
   * Unpacks a gzipped tar as it arrives, in constant memory. Resolves only when the whole archive was read, checked and
   * written, and `confirm` agreed, which is asked then. Rejects with a `Failure` (`invalid` for a hostile or broken
   * archive, `too_large` beyond a limit, `unavailable` without room for it), with the reason of `confirm`, when aborted with the signal's reason, and then
   * keeps nothing of it; what an earlier successful call stored under `id` is replaced only by a success.
   */
  receive(id: string, archive: ReadableStream<Uint8Array>, options: ReceiveOptions): Promise<ReceivedUpload>;
  /** Yields the entries of a stored upload, sorted by path, links never followed; nothing for an unknown id. */
  list(id: string): AsyncIterable<TreeEntry>;
  /** Reads one regular file, not through links that leave the folder; `undefined` when absent or over `maxBytes`. */
  read(id: string, path: string, options: { readonly maxBytes: number }): Promise<Uint8Array | undefined>;
  /**
   * Copies a stored upload into an existing empty folder of this machine; what is kept stays as it is, so that a broken-off copy can be made again.
   * Rejects with a `not_found` failure for an unknown id, and when aborted with the signal's reason. With `shared` nobody may write to the files of the copy.
   */
  copyTo(id: string, folder: string, options?: CopyToOptions): Promise<void>;
  /** Removes everything kept under `id`, unfinished parts included; an unknown id is no error. */
  discard(id: string): Promise<void>;
  /** Yields every id that occupies space, with the time of its last change. */
  stored(): AsyncIterable<{ readonly id: string; readonly changedAt: Date }>;
}
