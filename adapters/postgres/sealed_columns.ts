import type { SealedPlace } from "../../ports/system/vault.ts";

/** A column with encrypted text, and the key columns of its row. */
export interface SealedColumn {
  readonly table: string;
  readonly keys: readonly [string, ...string[]];
  readonly column: string;
}

/**
 * Every column with secrets. Columns not listed here are neither encrypted by a store nor re-encrypted on key rotation.
 */
export const SEALED_COLUMNS = {
  variable: { table: "variables", keys: ["project_id", "key"], column: "sealed_value" },
  previewVariable: { table: "preview_variables", keys: ["project_id", "key"], column: "sealed_value" },
  deployKey: { table: "deploy_keys", keys: ["project_id"], column: "sealed_private_key" },
  deploymentEnvironment: { table: "deployment_environments", keys: ["deployment_id"], column: "sealed_values" },
  deploymentComposition: { table: "deployment_compositions", keys: ["deployment_id"], column: "sealed_composition" },
  adoptedService: { table: "adopted_services", keys: ["project_id", "service"], column: "sealed_service" },
  certificateKey: { table: "certificates", keys: ["domain_id"], column: "sealed_key" },
  certificateOrderKey: { table: "certificate_orders", keys: ["domain_id"], column: "sealed_key" },
  authorityAccountKey: { table: "authority_accounts", keys: ["directory_url"], column: "sealed_key" },
  serverPassword: { table: "servers", keys: ["id"], column: "sealed_password" },
  serverPrivateKey: { table: "servers", keys: ["id"], column: "sealed_private_key" },
  serverKeyPassphrase: { table: "servers", keys: ["id"], column: "sealed_key_passphrase" },
  destinationAccessKeyId: { table: "backup_destinations", keys: ["id"], column: "sealed_access_key_id" },
  destinationSecretAccessKey: { table: "backup_destinations", keys: ["id"], column: "sealed_secret_access_key" },
  destinationSftpPassword: { table: "backup_destinations", keys: ["id"], column: "sealed_sftp_password" },
  destinationSftpPrivateKey: { table: "backup_destinations", keys: ["id"], column: "sealed_sftp_private_key" },
  destinationSftpKeyPassphrase: { table: "backup_destinations", keys: ["id"], column: "sealed_sftp_key_passphrase" },
  // Not itself a secret, but it repeats request content, such as values of variables.
  keptAnswer: { table: "idempotent_answers", keys: ["claim_id"], column: "answer" },
  cloudToken: { table: "cloud_links", keys: ["organization_id"], column: "sealed_token" },
  oauthToken: { table: "oauth_accounts", keys: ["organization_id", "user_id"], column: "sealed_token" },
  oauthRefreshToken: { table: "oauth_accounts", keys: ["organization_id", "user_id"], column: "sealed_refresh_token" },
  deviceCode: { table: "device_attempts", keys: ["organization_id", "user_id"], column: "sealed_device_code" },
  hookSecret: {
    table: "repository_hooks",
    keys: ["organization_id", "owner_key", "repo_key"],
    column: "sealed_secret",
  },
} as const satisfies Record<string, SealedColumn>;

/** Returns the place that a row's secret is bound to. `keys` are the values of the key columns. */
export function sealedPlace({ table, column }: SealedColumn, ...keys: readonly string[]): SealedPlace {
  return { table, row: keys.join("/"), field: column };
}
