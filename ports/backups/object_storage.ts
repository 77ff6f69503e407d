import type { ObjectPage, StoredObject } from "../../domain/backups/stored_object.ts";

/** Options of every operation. Aborting the signal cancels it; it then rejects with the signal's reason. */
export interface StorageOptions {
  readonly signal?: AbortSignal | undefined;
}

/** Which page of the objects to list. */
export interface ObjectListOptions extends StorageOptions {
  /** Only keys after this one: the cursor. */
  readonly after?: string | undefined;
  /** Page size, from 1 to 1,000. Defaults to 1,000. */
  readonly limit?: number | undefined;
}

/** Which unfinished writes are old enough to be removed. */
export interface SweepOptions extends StorageOptions {
  /** Only writes to which nothing was added since. */
  readonly before: Date;
}

/**
 * Stores objects under keys (`domain/backups/object_key.ts`; other keys are refused with code `invalid_object_key`),
 * with the same behavior for every kind of storage. Bodies are streams of any length, in constant memory. When the
 * storage fails, operations reject with a `remote_failed` failure, code `unreachable`, `auth_failed`, `not_found` (no
 * such bucket or folder), `permission_denied`, `timeout`, `storage_full`, `misconfigured` or `host_key_changed`, whose
 * message contains no secret.
 */
export interface ObjectStorage {
  /**
   * Stores a stream of unknown length and resolves to its size. The object appears, or replaces the former one,
   * atomically at the end. When the source fails or the call is aborted, nothing changes and nothing is left behind, as
   * far as the storage is still reachable; rejects with the source's own error. Of several concurrent writes the last
   * one wins, complete.
   */
  put(key: string, content: ReadableStream<Uint8Array>, options?: StorageOptions): Promise<number>;
  /**
   * Returns the content of an object, or `undefined` when there is none. Cancelling the stream releases the connection.
   */
  get(key: string, options?: StorageOptions): Promise<ReadableStream<Uint8Array> | undefined>;
  stat(key: string, options?: StorageOptions): Promise<StoredObject | undefined>;
  /** Lists objects whose keys begin with the prefix, in byte order of their keys. */
  list(prefix: string, options?: ObjectListOptions): Promise<ObjectPage>;
  /** Removes an object. A missing one is no error. */
  remove(key: string, options?: StorageOptions): Promise<void>;
  /** Lists the keys with the prefix, in the prefix's own folder, for which an unfinished `put` left data behind. */
  unfinished(prefix: string, options?: StorageOptions): Promise<readonly string[]>;
  /** Removes the leftovers of unfinished `put`s of a key. Only for keys that are not being written now. */
  discard(key: string, options?: StorageOptions): Promise<void>;
  /**
   * Removes the leftovers of unfinished `put`s of keys with the prefix, in all folders, unless something was added to
   * them since `before`. Resolves to their number. Skips unreadable folders. Where a storage does not report who began
   * a write, this includes writes of other programs.
   */
  sweep(prefix: string, options: SweepOptions): Promise<number>;
}
