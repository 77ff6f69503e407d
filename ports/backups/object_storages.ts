import type { Secret } from "../../domain/secret.ts";
import type { ObjectStorage, StorageOptions } from "./object_storage.ts";
import type { RemoteTarget } from "../servers/remote_hosts.ts";

/** A bucket of S3 or of a store that speaks its protocol. */
export interface BucketTarget {
  readonly kind: "bucket";
  /** The address of the store; `null` for Amazon's own. */
  readonly endpoint: string | null;
  readonly region: string | null;
  readonly bucket: string;
  readonly forcePathStyle: boolean;
  readonly accessKeyId: Secret;
  readonly secretAccessKey: Secret;
}

/** A folder of another machine, over SFTP. */
export interface RemoteFolderTarget {
  readonly kind: "remote_folder";
  readonly remote: RemoteTarget;
  /** Relative to where the login begins; made when it is not there. Empty: that place itself. */
  readonly folder: string;
}

/** A folder of this machine. */
export interface LocalFolderTarget {
  readonly kind: "local_folder";
  /** What the folder has to lie in, every link resolved, whenever it is used. */
  readonly root: string;
  /** Absolute; made when it is not there. */
  readonly folder: string;
}

export type StorageTarget = BucketTarget | RemoteFolderTarget | LocalFolderTarget;

/** A store that is ready for use; disposing gives its connections back. */
export interface OpenStorage extends ObjectStorage, AsyncDisposable {
  /** Fingerprint that the machine showed, where there is one. */
  readonly hostKey: string | null;
}

/** Opens stores of some kind. */
export interface ObjectStorages<Target extends StorageTarget = StorageTarget> {
  /** Rejects like the operations of the store; what answers only when it is asked something opens always. */
  open(target: Target, options?: StorageOptions): Promise<OpenStorage>;
}
