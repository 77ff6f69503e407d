import { credentialTarget, misplacedCredentials } from "../../domain/backups/credential_target.ts";
import type { BoundField, DestinationCredentials } from "../../domain/backups/destination.ts";
import type { DestinationDraft } from "../../domain/backups/destination_input.ts";
import { isCredential, missingFields, missingInput } from "../../domain/backups/destination_fields.ts";
import { Failure } from "../../domain/failure.ts";
import type { StorageTarget } from "../../ports/backups/object_storages.ts";
import type { RemoteTarget } from "../../ports/servers/remote_hosts.ts";
import type { Servers } from "../../ports/servers/servers.ts";
import { targetOf } from "../servers/work_on_server.ts";
import { checkLocalEndpoint, type CheckLocalEndpointPorts } from "./check_local_endpoint.ts";

/** Folder of backups on a server of the organization, relative to its login directory. */
const SERVER_FOLDER = ".slipway/backups";

export interface StorageTargetPorts extends CheckLocalEndpointPorts {
  readonly servers: Servers;
}

/**
 * Returns the storage target of a destination, with only those secrets that were given for this very target. Rejects
 * with code `misconfigured`, naming the missing field.
 */
export function storageTarget(ports: StorageTargetPorts) {
  const checkLocal = checkLocalEndpoint(ports);

  async function onServer(organizationId: string, serverId: string): Promise<StorageTarget> {
    const [server, credentials] = await Promise.all([
      ports.servers.find(organizationId, serverId),
      ports.servers.credentials(organizationId, serverId),
    ]);
    if (!server || !credentials) throw misconfigured('its server is gone: set "serverId" to another one');
    return { kind: "remote_folder", remote: targetOf(server, credentials), folder: SERVER_FOLDER };
  }

  return async function (organizationId: string, draft: DestinationDraft): Promise<StorageTarget> {
    const { kind, settings } = draft;
    const credentials = sendable(draft);
    switch (kind) {
      case "s3_compatible":
        return bucketOf({ settings, credentials });
      case "sftp":
        return { kind: "remote_folder", remote: remoteOf({ settings, credentials }), folder: "" };
      case "platform_server":
        return onServer(organizationId, settings.serverId ?? "");
      case "local": {
        const folder = settings.endpoint ?? "";
        return { kind: "local_folder", root: await checkLocal(folder).catch(asMisconfigured), folder };
      }
    }
  };
}

/** Returns the secrets that may be sent to the current target; throws `misconfigured`, naming the missing ones. */
function sendable({ kind, settings, credentials, credentialTargets }: DestinationDraft): DestinationCredentials {
  const target = credentialTarget(kind, settings);
  const misplaced = misplacedCredentials(credentials, credentialTargets, target);
  const usable = { ...credentials, ...Object.fromEntries(misplaced.map((field) => [field, null])) };
  const [missing] = missingFields(kind, { ...settings, ...usable });
  if (missing === undefined) return usable;
  if (misplaced.length === 0 || !isCredential(missing)) {
    throw misconfigured(`"${missing}" is not set: ${missingInput(kind, missing)}`);
  }
  const were = misplaced.map((field) => `"${field}" was given for ${credentialTargets[field]}`).join(", ");
  throw misconfigured(`${were}, and is not sent to ${target}. Give ${namesOf(kind, misplaced)} again`);
}

/** Joins field names: SFTP needs any one of its credentials, an S3 store needs both of its keys. */
function namesOf(kind: DestinationDraft["kind"], fields: readonly BoundField[]): string {
  return fields.map((field) => `"${field}"`).join(kind === "sftp" ? " or " : " and ");
}

type SettingsAndSecrets = Pick<DestinationDraft, "settings" | "credentials">;

function bucketOf({ settings, credentials }: SettingsAndSecrets): StorageTarget {
  return {
    kind: "bucket",
    endpoint: settings.endpoint,
    region: settings.region,
    bucket: settings.bucket!,
    forcePathStyle: settings.forcePathStyle ?? false,
    accessKeyId: credentials.accessKeyId!,
    secretAccessKey: credentials.secretAccessKey!,
  };
}

function remoteOf({ settings, credentials }: SettingsAndSecrets): RemoteTarget {
  return {
    host: settings.sshHost!,
    port: settings.sshPort ?? 22,
    user: settings.sshUser!,
    password: credentials.sftpPassword ?? undefined,
    privateKey: credentials.sftpPrivateKey ?? undefined,
    keyPassphrase: credentials.sftpKeyPassphrase ?? undefined,
    hostKey: settings.sshHostKey ?? undefined,
  };
}

/** Local access that the operator has since revoked is a fault of the destination, not of the request. */
function asMisconfigured(error: unknown): never {
  throw error instanceof Failure && error.kind === "invalid" ? misconfigured(error.message) : error;
}

function misconfigured(why: string): Failure {
  return new Failure("remote_failed", "misconfigured", `Cannot use this destination: ${why}`);
}
