import type { ObjectPage, StoredObject } from "../../domain/backups/stored_object.ts";

/** What every operation takes: an aborted signal ends it, and it rejects with the signal's reason. */
export interface StorageOptions {
  readonly signal?: AbortSignal | undefined;
}

/** Which part of a store's objects is listed. */
export interface ListOptions extends StorageOptions {
  /** Only keys behind this one. */
  readonly after?: string | undefined;
  /** At most this many, from 1 to 1,000; 1,000 unless told. */
  readonly limit?: number | undefined;
}

/** Which unfinished writes are old enough to be removed. */
export interface SweepOptions extends StorageOptions {
  /** Nothing was added to them since. */
  readonly before: Date;
}

/**
 * A store of objects under keys (`domain/backups/object_key.ts`; others are refused with code `invalid_object_key`), in the same way whatever
 * it is kept in. Bodies are streams of any length, in constant memory. What the store refuses rejects with a `remote_failed` failure, code `unreachable`,
 * `auth_failed`, `not_found` (no such bucket or folder), `permission_denied`, `timeout`, `storage_full`, `misconfigured` or `host_key_changed`, whose
 * sentence holds no secret.
 */
export interface ObjectStorage {
  /**
   * Stores a stream of unknown length and resolves to its size. The object appears, or takes the place of the former one, all at once and at the end; with a
   * failing or aborted source nothing changes and nothing stays behind, as far as the store can still be reached. Rejects with the source's own error. Of several
   * at once the last one stays, whole.
   */
  put(key: string, content: ReadableStream<Uint8Array>, options?: StorageOptions): Promise<number>;
  /** The content of an object, `undefined` when there is none; cancelling the stream gives the connection back. */
  get(key: string, options?: StorageOptions): Promise<ReadableStream<Uint8Array> | undefined>;
  stat(key: string, options?: StorageOptions): Promise<StoredObject | undefined>;
  /** Objects whose keys begin with the prefix, in the order of the bytes of their keys. */
  list(prefix: string, options?: ListOptions): Promise<ObjectPage>;
  /** Removes an object; one that is not there is fine. */
  remove(key: string, options?: StorageOptions): Promise<void>;
  /** Keys with the prefix, in its own folder, of which a `put` that never ended left something. */
  unfinished(prefix: string, options?: StorageOptions): Promise<readonly string[]>;
  /** Removes what unfinished `put`s of a key left; for keys that nobody writes now. */
  discard(key: string, options?: StorageOptions): Promise<void>;
  /**
   * Removes what unfinished `put`s of keys with the prefix left, in all folders, unless something was added to them
   * since `before`; resolves to their number. Skips folders that may not be read. Where a store does not tell who began a
   * write, this includes the writes of other programs.
   */
  sweep(prefix: string, options: SweepOptions): Promise<number>;
}
