import type { Secret } from "../secret.ts";

export const DESTINATION_KINDS = ["s3_compatible", "sftp", "platform_server", "local"] as const;
export const CREDENTIAL_FIELDS = [
  "accessKeyId",
  "secretAccessKey",
  "sftpPassword",
  "sftpPrivateKey",
  "sftpKeyPassphrase",
] as const;
/** The credentials that are sent, or proven, to another machine; a passphrase is only used on this machine. */
export const BOUND_FIELDS = ["accessKeyId", "secretAccessKey", "sftpPassword", "sftpPrivateKey"] as const;

/** The kinds of storage that a backup can be written to. */
export type DestinationKind = (typeof DESTINATION_KINDS)[number];
/** The secret fields of a destination. */
export type CredentialField = (typeof CREDENTIAL_FIELDS)[number];
/** A credential that is only ever sent to the target it was set for. */
export type BoundField = (typeof BOUND_FIELDS)[number];

/** Settings of a destination without credentials; fields that its kind does not have are `null`. */
export interface DestinationSettings {
  /** The URL of an S3 store, or a folder on this machine. */
  readonly endpoint: string | null;
  readonly region: string | null;
  readonly bucket: string | null;
  readonly forcePathStyle: boolean | null;
  /** The folder inside the target that holds everything, without leading and trailing slashes. */
  readonly pathPrefix: string | null;
  readonly sshHost: string | null;
  readonly sshPort: number | null;
  readonly sshUser: string | null;
  /** Host key fingerprint, recorded by the first successful preflight or set by the user. */
  readonly sshHostKey: string | null;
  readonly serverId: string | null;
}

/** The credentials of a destination; absent ones are `null`. */
export type DestinationCredentials = { readonly [Field in CredentialField]: Secret | null };

/** The target (`credentialTarget`) that each stored credential was set for; `null` where there is no credential. */
export type CredentialTargets = { readonly [Field in BoundField]: string | null };

/** For every credential, whether it is set. */
export type CredentialFlags = { readonly [Field in CredentialField as `has${Capitalize<Field>}`]: boolean };

/** A place that backups can be written to; its credentials are only exposed as flags. */
export interface BackupDestination extends DestinationSettings, CredentialFlags {
  readonly id: string;
  readonly organizationId: string;
  readonly name: string;
  readonly kind: DestinationKind;
  readonly isDefault: boolean;
  readonly lastVerifiedAt: Date | null;
  readonly lastVerifyError: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly credentialTargets: CredentialTargets;
  /** Incremented with every change; results of checks on an earlier revision do not apply to this one. */
  readonly revision: number;
  /** Keys of probe objects that a preflight could not delete. */
  readonly leftProbes: readonly string[];
}

/** Returns the flags that say which credentials are set. */
export function flagsOf(credentials: DestinationCredentials): CredentialFlags {
  return {
    hasAccessKeyId: credentials.accessKeyId !== null,
    hasSecretAccessKey: credentials.secretAccessKey !== null,
    hasSftpPassword: credentials.sftpPassword !== null,
    hasSftpPrivateKey: credentials.sftpPrivateKey !== null,
    hasSftpKeyPassphrase: credentials.sftpKeyPassphrase !== null,
  };
}
