import type {
  BackupDestination,
  CredentialTargets,
  DestinationKind,
  DestinationSettings,
} from "../../domain/backups/destination.ts";
import { nameKey } from "../../domain/backups/destination_values.ts";
import type { Sql } from "./database.ts";

/** A destination row as selected, without its secrets. */
export interface DestinationRow {
  readonly id: string;
  readonly organization_id: string;
  readonly name: string;
  readonly kind: DestinationKind;
  readonly endpoint: string | null;
  readonly region: string | null;
  readonly bucket: string | null;
  readonly force_path_style: boolean | null;
  readonly path_prefix: string | null;
  readonly ssh_host: string | null;
  readonly ssh_port: number | null;
  readonly ssh_user: string | null;
  readonly ssh_host_key: string | null;
  readonly server_id: string | null;
  readonly is_default: boolean;
  readonly has_access_key_id: boolean;
  readonly has_secret_access_key: boolean;
  readonly has_sftp_password: boolean;
  readonly has_sftp_private_key: boolean;
  readonly has_sftp_key_passphrase: boolean;
  readonly access_key_id_target: string | null;
  readonly secret_access_key_target: string | null;
  readonly sftp_password_target: string | null;
  readonly sftp_private_key_target: string | null;
  readonly last_verified_at: Date | null;
  readonly last_verify_error: string | null;
  readonly left_probes: readonly string[];
  readonly revision: number;
  readonly created_at: Date;
  readonly updated_at: Date;
}

/**
 * Returns the columns of a `DestinationRow`, selected from the table or from a CTE with the same columns. `isDefault`
 * overrides the stored default where the statement itself sets it.
 */
export function destinationColumns(sql: Sql, table: string, isDefault?: boolean | undefined) {
  return sql`id, organization_id, name, kind, endpoint, region, bucket, force_path_style, path_prefix, ssh_host, ssh_port,
    ssh_user, ssh_host_key, server_id, sealed_access_key_id is not null as has_access_key_id,
    sealed_secret_access_key is not null as has_secret_access_key, sealed_sftp_password is not null as has_sftp_password,
    sealed_sftp_private_key is not null as has_sftp_private_key,
    sealed_sftp_key_passphrase is not null as has_sftp_key_passphrase, access_key_id_target,
    secret_access_key_target, sftp_password_target, sftp_private_key_target, last_verified_at, last_verify_error,
    to_jsonb(left_probes) as left_probes, revision, created_at, updated_at, coalesce(${isDefault ?? null}::boolean, exists (
      select 1 from default_backup_destinations where destination_id = ${sql(table)}.id)) as is_default`;
}

/** Maps settings to their columns. */
export function settingColumns(settings: DestinationSettings) {
  return {
    endpoint: settings.endpoint,
    region: settings.region,
    bucket: settings.bucket,
    force_path_style: settings.forcePathStyle,
    path_prefix: settings.pathPrefix,
    ssh_host: settings.sshHost,
    ssh_port: settings.sshPort,
    ssh_user: settings.sshUser,
    ssh_host_key: settings.sshHostKey,
    server_id: settings.serverId,
  };
}

/** Maps credential targets (which destination each secret is for) to their columns. */
export function targetColumns(targets: CredentialTargets) {
  return {
    access_key_id_target: targets.accessKeyId,
    secret_access_key_target: targets.secretAccessKey,
    sftp_password_target: targets.sftpPassword,
    sftp_private_key_target: targets.sftpPrivateKey,
  };
}

/** Maps a new destination to its columns, without its secrets. */
export function insertedValues(destination: BackupDestination) {
  return {
    id: destination.id,
    organization_id: destination.organizationId,
    name: destination.name,
    name_key: nameKey(destination.name),
    kind: destination.kind,
    ...settingColumns(destination),
    ...targetColumns(destination.credentialTargets),
    last_verified_at: destination.lastVerifiedAt,
    last_verify_error: destination.lastVerifyError,
    left_probes: [...destination.leftProbes],
    revision: destination.revision,
    created_at: destination.createdAt,
    updated_at: destination.updatedAt,
  };
}

/** Converts a row to a destination. */
export function toDestination(row: DestinationRow): BackupDestination {
  return {
    id: row.id,
    organizationId: row.organization_id,
    name: row.name,
    kind: row.kind,
    endpoint: row.endpoint,
    region: row.region,
    bucket: row.bucket,
    forcePathStyle: row.force_path_style,
    pathPrefix: row.path_prefix,
    sshHost: row.ssh_host,
    sshPort: row.ssh_port,
    sshUser: row.ssh_user,
    sshHostKey: row.ssh_host_key,
    serverId: row.server_id,
    isDefault: row.is_default,
    hasAccessKeyId: row.has_access_key_id,
    hasSecretAccessKey: row.has_secret_access_key,
    hasSftpPassword: row.has_sftp_password,
    hasSftpPrivateKey: row.has_sftp_private_key,
    hasSftpKeyPassphrase: row.has_sftp_key_passphrase,
    credentialTargets: {
      accessKeyId: row.access_key_id_target,
      secretAccessKey: row.secret_access_key_target,
      sftpPassword: row.sftp_password_target,
      sftpPrivateKey: row.sftp_private_key_target,
    },
    lastVerifiedAt: row.last_verified_at,
    lastVerifyError: row.last_verify_error,
    leftProbes: row.left_probes,
    revision: row.revision,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
