import type { Secret } from "../secret.ts";

export const DESTINATION_KINDS = ["s3_compatible", "sftp", "platform_server", "local"] as const;
export const CREDENTIAL_FIELDS = [
  "accessKeyId",
  "secretAccessKey",
  "sftpPassword",
  "sftpPrivateKey",
  "sftpKeyPassphrase",
] as const;
/** The secrets that another machine gets to see, or a proof of; a passphrase is used on this machine alone. */
export const BOUND_FIELDS = ["accessKeyId", "secretAccessKey", "sftpPassword", "sftpPrivateKey"] as const;

/** What a backup can be written to. */
export type DestinationKind = (typeof DESTINATION_KINDS)[number];
/** The parts of a destination that are secret. */
export type CredentialField = (typeof CREDENTIAL_FIELDS)[number];
/** A secret that is only ever sent to the target it was given for. */
export type BoundField = (typeof BOUND_FIELDS)[number];

/** Where a destination is, without secrets; what its kind does not have is `null`. */
export interface DestinationSettings {
  /** The address of an S3 store, or a folder of this machine. */
  readonly endpoint: string | null;
  readonly region: string | null;
  readonly bucket: string | null;
  readonly forcePathStyle: boolean | null;
  /** The folder inside the target under which everything is kept, without slashes around it. */
  readonly pathPrefix: string | null;
  readonly sshHost: string | null;
  readonly sshPort: number | null;
  readonly sshUser: string | null;
  /** Fingerprint recorded by the first preflight that went well, or given by hand. */
  readonly sshHostKey: string | null;
  readonly serverId: string | null;
}

/** The secrets of a destination; absent ones are `null`. */
export type DestinationCredentials = { readonly [Field in CredentialField]: Secret | null };

/** The target (`credentialTarget`) that each stored secret was given for; `null` where there is no secret. */
export type CredentialTargets = { readonly [Field in BoundField]: string | null };

/** Tells, for every secret, whether it is there. */
export type CredentialFlags = { readonly [Field in CredentialField as `has${Capitalize<Field>}`]: boolean };

/** A place that backups can be written to; its secrets are told only as flags. */
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
  /** Counts the changes; what was found out about an earlier one says nothing about this one. */
  readonly revision: number;
  /** Keys of probes that a preflight could not remove. */
  readonly leftProbes: readonly string[];
}

/** The flags that stand for some secrets. */
export function flagsOf(credentials: DestinationCredentials): CredentialFlags {
  return {
    hasAccessKeyId: credentials.accessKeyId !== null,
    hasSecretAccessKey: credentials.secretAccessKey !== null,
    hasSftpPassword: credentials.sftpPassword !== null,
    hasSftpPrivateKey: credentials.sftpPrivateKey !== null,
    hasSftpKeyPassphrase: credentials.sftpKeyPassphrase !== null,
  };
}
