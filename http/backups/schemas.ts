import { t } from "elysia";
import type { BackupDestination } from "../../domain/backups/destination.ts";
import { CREDENTIAL_FIELDS, DESTINATION_KINDS } from "../../domain/backups/destination.ts";
import type { DestinationInput } from "../../domain/backups/destination_input.ts";
import { Secret } from "../../domain/secret.ts";
import { DESTINATION_KIND, PROBE_CODE } from "../meanings.ts";
import { described, explained, integer, nullable, object, Time } from "../schema.ts";

const given = (maxLength: number, description: string, examples: string[]) =>
  t.Optional(nullable(t.String({ maxLength, description, examples })));

const name = (required: string) => t.String({ maxLength: 1_000, description: required, examples: ["Nightly"] });

const settings = {
  bucket: given(255, "s3_compatible: name of the bucket, required", ["backups"]),
  region: given(64, "s3_compatible: AWS region. Defaults to us-east-1", ["eu-central-1"]),
  endpoint: given(1_000, "s3_compatible: URL of the store (default: Amazon S3); local: path of the folder, required", [
    "https://s3.example.com",
  ]),
  forcePathStyle: t.Optional(
    nullable(
      t.Boolean({
        description: "s3_compatible: put the bucket in the path. Defaults to true with an endpoint, else to false",
      }),
    ),
  ),
  sshHost: given(253, "sftp: host name or IP address, required", ["storage.example.com"]),
  sshPort: t.Optional(
    nullable(integer({ minimum: 1, maximum: 65_535, description: "sftp: SSH port. Defaults to 22", examples: [22] })),
  ),
  sshUser: given(128, "sftp: user name, required", ["backup"]),
  sshHostKey: given(8_192, "sftp: host key fingerprint or public key line; by default the first preflight records it", [
    "SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU",
  ]),
  serverId: given(64, "platform_server: ID of the server, required; needs server:write on it", [
    "srv_01m7edka8326kz9mv55sbbg868",
  ]),
  pathPrefix: given(1_000, "Folder inside the target", ["slipway/main"]),
  isDefault: t.Optional(nullable(t.Boolean({ description: "Makes it the default in place of the former default" }))),
};

const secrets = {
  accessKeyId: given(1_000, "s3_compatible: access key ID, required", ["AKIA…"]),
  secretAccessKey: given(1_000, "s3_compatible: secret access key, required", ["…"]),
  sftpPassword: given(1_000, "sftp: password; this or sftpPrivateKey is required", ["…"]),
  sftpPrivateKey: given(32_768, "sftp: private key; this or sftpPassword is required", [
    "-----BEGIN OPENSSH PRIVATE KEY-----…",
  ]),
  sftpKeyPassphrase: given(1_000, "sftp: passphrase of sftpPrivateKey", ["…"]),
};

const kind = t.String({
  maxLength: 100,
  description: `One of ${DESTINATION_KINDS.join(", ")}; http_upload is not supported`,
  examples: ["s3_compatible"],
});

export const DestinationBody = object({
  name: name("Name of the destination: not blank, at most 80 characters"),
  kind,
  ...settings,
  ...secrets,
});

export const DraftBody = object({
  name: t.Optional(name("Checked like the name of a stored destination, but not used")),
  kind,
  ...settings,
  ...secrets,
});

export const DestinationPatch = object({
  name: t.Optional(name("Name of the destination: not blank, at most 80 characters")),
  kind: t.Optional(t.Unknown({ description: "Cannot be changed: any value is rejected" })),
  ...settings,
  ...secrets,
});

const shownFields = {
  id: t.String({ examples: ["bkd_01m7edka8326kz9mv55sbbg868"] }),
  name: t.String({ examples: ["Nightly"] }),
  kind: explained(DESTINATION_KIND, { title: "DestinationKind", examples: ["s3_compatible"] }),
  endpoint: nullable(t.String()),
  region: nullable(t.String()),
  bucket: nullable(t.String()),
  forcePathStyle: nullable(t.Boolean()),
  pathPrefix: nullable(t.String()),
  sshHost: nullable(t.String()),
  sshPort: nullable(integer()),
  sshUser: nullable(t.String()),
  sshHostKey: nullable(t.String()),
  serverId: nullable(t.String()),
  isDefault: t.Boolean(),
  hasAccessKeyId: t.Boolean(),
  hasSecretAccessKey: t.Boolean(),
  hasSftpPassword: t.Boolean(),
  hasSftpPrivateKey: t.Boolean(),
  hasSftpKeyPassphrase: t.Boolean(),
  lastVerifiedAt: nullable(Time),
  lastVerifyError: nullable(t.String()),
  createdAt: Time,
  updatedAt: Time,
};

export const DestinationView = object(
  described(shownFields, {
    id: "ID of the destination",
    name: "Name of the destination",
    kind: "Type of the destination",
    endpoint: "URL of the S3 store, or the folder on this machine",
    region: "Region of the bucket",
    bucket: "Name of the bucket",
    forcePathStyle: "Whether the bucket is in the path of requests",
    pathPrefix: "Folder inside the target; null for its root",
    sshHost: "Host name or IP address of the SFTP server",
    sshPort: "SSH port",
    sshUser: "SSH user name",
    sshHostKey: "Fingerprint of the host key; null until it is set or a preflight records it",
    serverId: "ID of the server of the organization",
    isDefault: "Whether it is the default, used where no destination is specified",
    hasAccessKeyId: "Whether an access key ID is stored",
    hasSecretAccessKey: "Whether a secret access key is stored",
    hasSftpPassword: "Whether a password is stored",
    hasSftpPrivateKey: "Whether a private key is stored",
    hasSftpKeyPassphrase: "Whether a passphrase for the private key is stored",
    lastVerifiedAt: "Time of the last successful preflight; null if there was none",
    lastVerifyError: "Error of the last preflight; null if it succeeded",
    createdAt: "Creation time",
    updatedAt: "Time of the last change",
  }),
  { title: "BackupDestination" },
);

export const OutcomeView = object(
  {
    ok: t.Boolean({ description: "Whether the probe could be written, read back and deleted" }),
    reason: t.Optional(
      t.String({
        description: "The step that failed and why; absent on success",
        examples: ["write: Cannot write the object in the bucket …"],
      }),
    ),
    code: t.Optional(
      explained(PROBE_CODE, { description: "Machine-readable reason of the failure", examples: ["permission_denied"] }),
    ),
  },
  { title: "Preflight" },
);

/** Converts a destination for the API, without secrets and internal fields. */
export function destinationView(destination: BackupDestination) {
  const { organizationId: _o, revision: _r, leftProbes: _l, credentialTargets: _c, ...shown } = destination;
  return {
    ...shown,
    lastVerifiedAt: destination.lastVerifiedAt?.toISOString() ?? null,
    createdAt: destination.createdAt.toISOString(),
    updatedAt: destination.updatedAt.toISOString(),
  };
}

type InputBody = Omit<DestinationInput, keyof typeof secrets> & {
  readonly [Field in keyof typeof secrets]?: string | null;
};

/** Converts a body to destination input, with its secrets wrapped. */
export function destinationInput(body: InputBody): DestinationInput {
  const guarded = CREDENTIAL_FIELDS.filter((field) => body[field] !== undefined).map((field) => {
    const text = body[field];
    return [field, typeof text === "string" ? new Secret(text) : null] as const;
  });
  const {
    accessKeyId: _a,
    secretAccessKey: _b,
    sftpPassword: _c,
    sftpPrivateKey: _d,
    sftpKeyPassphrase: _e,
    ...rest
  } = body;
  return { ...rest, ...Object.fromEntries(guarded) };
}
