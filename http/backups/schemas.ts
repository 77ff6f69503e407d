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
  bucket: given(255, "s3_compatible: required", ["backups"]),
  region: given(64, "s3_compatible; us-east-1 unless told", ["eu-central-1"]),
  endpoint: given(1_000, "s3_compatible: the address of the store, Amazon's unless told; local: the folder, required", [
    "https://s3.example.com",
  ]),
  forcePathStyle: t.Optional(
    nullable(
      t.Boolean({
        description: "s3_compatible: the bucket in the path; true with an endpoint, false without, unless told",
      }),
    ),
  ),
  sshHost: given(253, "sftp: required", ["storage.example.com"]),
  sshPort: t.Optional(
    nullable(integer({ minimum: 1, maximum: 65_535, description: "sftp; 22 unless told", examples: [22] })),
  ),
  sshUser: given(128, "sftp: required", ["backup"]),
  sshHostKey: given(8_192, "sftp: a fingerprint or a public key line; recorded by the first preflight by default", [
    "SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU",
  ]),
  serverId: given(64, "platform_server: required; needs server:write on it", ["srv_01m7edka8326kz9mv55sbbg868"]),
  pathPrefix: given(1_000, "The folder inside the target", ["slipway/main"]),
  isDefault: t.Optional(nullable(t.Boolean({ description: "The former default stops being it" }))),
};

const secrets = {
  accessKeyId: given(1_000, "s3_compatible: required", ["AKIA…"]),
  secretAccessKey: given(1_000, "s3_compatible: required", ["…"]),
  sftpPassword: given(1_000, "sftp: this or sftpPrivateKey", ["…"]),
  sftpPrivateKey: given(32_768, "sftp: this or sftpPassword", ["-----BEGIN OPENSSH PRIVATE KEY-----…"]),
  sftpKeyPassphrase: given(1_000, "sftp", ["…"]),
};

const kind = t.String({
  maxLength: 100,
  description: `One of ${DESTINATION_KINDS.join(", ")}; http_upload is not supported`,
  examples: ["s3_compatible"],
});

export const DestinationBody = object({
  name: name("Not blank, at most 80 characters"),
  kind,
  ...settings,
  ...secrets,
});

export const DraftBody = object({ name: t.Optional(name("Not looked at")), kind, ...settings, ...secrets });

export const DestinationPatch = object({
  name: t.Optional(name("Not blank, at most 80 characters")),
  kind: t.Optional(t.Unknown({ description: "Cannot change: any value is refused" })),
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
    id: "The id of the destination",
    name: "What it is called",
    kind: "Of which kind it is",
    endpoint: "The address of the store, or the folder of this machine",
    region: "The region of the bucket",
    bucket: "The bucket",
    forcePathStyle: "Whether the bucket stands in the path of requests",
    pathPrefix: "The folder inside the target; null for all of it",
    sshHost: "The machine that is reached over SFTP",
    sshPort: "The port of its SSH server",
    sshUser: "Who logs in there",
    sshHostKey: "The fingerprint of its host key; null until it was given or a preflight recorded it",
    serverId: "The server of the organization",
    isDefault: "Whether it is used where none is named",
    hasAccessKeyId: "Whether an access key is stored",
    hasSecretAccessKey: "Whether its secret is stored",
    hasSftpPassword: "Whether a password is stored",
    hasSftpPrivateKey: "Whether a private key is stored",
    hasSftpKeyPassphrase: "Whether a passphrase of the key is stored",
    lastVerifiedAt: "When a preflight last went well; null when none did",
    lastVerifyError: "Why the last preflight failed; null when it went well",
    createdAt: "When it was made",
    updatedAt: "When it was last changed",
  }),
  { title: "BackupDestination" },
);

export const OutcomeView = object(
  {
    ok: t.Boolean({ description: "Whether something could be written, read back and deleted" }),
    reason: t.Optional(
      t.String({
        description: "Which step failed and why; absent when all went well",
        examples: ["write: Cannot write the object in the bucket …"],
      }),
    ),
    code: t.Optional(
      explained(PROBE_CODE, { description: "Why it failed, for programs", examples: ["permission_denied"] }),
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
