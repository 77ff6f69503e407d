import { t } from "elysia";
import type { Server } from "../../domain/servers/server.ts";
import { about, described, integer, nullable, object, text, Time } from "../schema.ts";

const name = text(80, { description: "What the server is called", examples: ["Berlin 1"] });
const sshHost = text(253, { description: "Its name or address", examples: ["203.0.113.7"] });
const PORT = { minimum: 1, maximum: 65_535, description: "The port of its SSH server" };
const sshPort = integer({ ...PORT, default: 22, examples: [22] });
const sshUser = text(64, { description: "Who logs in there", examples: ["deploy"] });
const hostKey = text(8_192, {
  description: "A fingerprint or a public key line",
  examples: ["SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU"],
});
const sshPassword = text(1_000, { description: "This or sshPrivateKey; never shown again", examples: ["…"] });
const sshPrivateKey = text(32_768, {
  description: "This or sshPassword, in the format of OpenSSH; never shown again",
  examples: ["-----BEGIN OPENSSH PRIVATE KEY-----…"],
});
const sshKeyPassphrase = text(1_000, { description: "What the private key is locked with", examples: ["…"] });

export const ServerBody = object({
  name,
  sshHost,
  sshPort: t.Optional(sshPort),
  sshUser,
  sshPassword: t.Optional(nullable(sshPassword)),
  sshPrivateKey: t.Optional(nullable(sshPrivateKey)),
  sshKeyPassphrase: t.Optional(nullable(sshKeyPassphrase)),
  hostKey: t.Optional(nullable(hostKey)),
});

export const ServerPatch = object({
  name: t.Optional(name),
  sshHost: t.Optional(sshHost),
  sshPort: t.Optional(integer(PORT)),
  sshUser: t.Optional(sshUser),
  sshPassword: t.Optional(nullable(sshPassword)),
  sshPrivateKey: t.Optional(nullable(sshPrivateKey)),
  sshKeyPassphrase: t.Optional(nullable(sshKeyPassphrase)),
  hostKey: t.Optional(nullable(hostKey)),
});

export const ServerView = object(
  {
    id: t.String({ description: "The id of the server", examples: ["srv_01m7edka8326kz9mv55sbbg868"] }),
    name,
    sshHost,
    sshPort,
    sshUser,
    ...described(
      {
        hostKey: nullable(t.String()),
        hasSshPassword: t.Boolean(),
        hasSshPrivateKey: t.Boolean(),
        hasSshKeyPassphrase: t.Boolean(),
        lastCheckedAt: nullable(Time),
        lastCheckError: nullable(t.String()),
        createdAt: Time,
        updatedAt: Time,
      },
      {
        hostKey: "The fingerprint of its host key; null until it was given or a check recorded it",
        hasSshPassword: "Whether a password is stored",
        hasSshPrivateKey: "Whether a private key is stored",
        hasSshKeyPassphrase: "Whether a passphrase of the key is stored",
        lastCheckedAt: "When it was last checked; null when it never was",
        lastCheckError: "Why that check failed; null when it went well",
        createdAt: "When it was added",
        updatedAt: "When it was last changed",
      },
    ),
  },
  { title: "Server" },
);

export const ReportFields = {
  server: ServerView,
  hostKey: t.String({ description: "The fingerprint of the host key that it showed" }),
  engine: about(
    "The container engine that was found there; null when there is none",
    nullable(
      object({
        name: t.Literal("docker", { description: "Which one it is" }),
        version: t.String({ description: "Its version", examples: ["28.2.2"] }),
      }),
    ),
  ),
  message: t.String({ description: "What was found and what to do next" }),
};

export function serverView(server: Server) {
  const { organizationId: _, lastCheckedAt, createdAt, updatedAt, ...shown } = server;
  return {
    ...shown,
    lastCheckedAt: lastCheckedAt?.toISOString() ?? null,
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  };
}
