import type { DestinationDraft } from "../../domain/backup/destination_wish.ts";
import { missingFields, whatToGive } from "../../domain/backup/destination_fields.ts";
import { Failure } from "../../domain/failure.ts";
import type { StorageTarget } from "../../ports/object_storages.ts";
import type { RemoteTarget } from "../../ports/remote_hosts.ts";
import type { Servers } from "../../ports/servers.ts";
import { targetOf } from "../servers/check_server.ts";
import { checkLocalEndpoint, type CheckLocalEndpointPorts } from "./check_local_endpoint.ts";

/** Where backups lie on a server of the organization, below the folder that its login begins in. */
const SERVER_FOLDER = ".slipway/backups";

export interface StorageTargetPorts extends CheckLocalEndpointPorts {
  readonly servers: Servers;
}

/** Tells what to open for a destination; rejects with code `misconfigured`, naming what it lacks. */
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
    const { kind, settings, credentials } = draft;
    const [missing] = missingFields(kind, { ...settings, ...credentials });
    if (missing !== undefined) throw misconfigured(`"${missing}" is not set: ${whatToGive(kind, missing)}`);
    switch (kind) {
      case "s3_compatible":
        return bucketOf(draft);
      case "sftp":
        return { kind: "remote_folder", remote: remoteOf(draft), folder: "" };
      case "platform_server":
        return onServer(organizationId, settings.serverId ?? "");
      case "local": {
        const folder = settings.endpoint ?? "";
        return { kind: "local_folder", root: await checkLocal(folder).catch(asMisconfigured), folder };
      }
    }
  };
}

function bucketOf({ settings, credentials }: DestinationDraft): StorageTarget {
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

function remoteOf({ settings, credentials }: DestinationDraft): RemoteTarget {
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

/** What the operator took back since is wrong with the destination, not with the request. */
function asMisconfigured(error: unknown): never {
  throw error instanceof Failure && error.kind === "invalid" ? misconfigured(error.message) : error;
}

function misconfigured(why: string): Failure {
  return new Failure("remote_failed", "misconfigured", `Cannot use this destination: ${why}`);
}
