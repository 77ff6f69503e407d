import type { Secret } from "../../domain/secret.ts";
import type { ObjectStorage, StorageOptions } from "./object_storage.ts";
import type { RemoteTarget } from "../servers/remote_hosts.ts";

/** A bucket on S3 or on an S3-compatible storage. */
export interface BucketTarget {
  readonly kind: "bucket";
  /** The endpoint URL; `null` for AWS. */
  readonly endpoint: string | null;
  readonly region: string | null;
  readonly bucket: string;
  readonly forcePathStyle: boolean;
  readonly accessKeyId: Secret;
  readonly secretAccessKey: Secret;
}

/** A folder on another machine, over SFTP. */
export interface RemoteFolderTarget {
  readonly kind: "remote_folder";
  readonly remote: RemoteTarget;
  /** Relative to the directory where the login starts; created if missing. Empty: that directory itself. */
  readonly folder: string;
}

/** A folder on this machine. */
export interface LocalFolderTarget {
  readonly kind: "local_folder";
  /** The folder must lie inside this one on every use, with all symlinks resolved. */
  readonly root: string;
  /** Absolute; created if missing. */
  readonly folder: string;
}

export type StorageTarget = BucketTarget | RemoteFolderTarget | LocalFolderTarget;

/** A storage that is ready for use. Disposing it releases its connections. */
export interface OpenStorage extends ObjectStorage, AsyncDisposable {
  /** The SSH host key fingerprint that the machine presented, if any. */
  readonly hostKey: string | null;
}

/** Opens storages of some kind. */
export interface ObjectStorages<Target extends StorageTarget = StorageTarget> {
  /**
   * Rejects like the operations of the storage. A storage without a persistent connection always opens and fails only
   * on use.
   */
  open(target: Target, options?: StorageOptions): Promise<OpenStorage>;
}
