import { t } from "elysia";
import type { Server } from "../../domain/servers/server.ts";
import { about, described, integer, nullable, object, text, Time } from "../schema.ts";

const name = text(80, { description: "Name of the server", examples: ["Berlin 1"] });
const sshHost = text(253, { description: "Host name or IP address", examples: ["203.0.113.7"] });
const PORT = { minimum: 1, maximum: 65_535, description: "SSH port" };
const sshPort = integer({ ...PORT, default: 22, examples: [22] });
const sshUser = text(64, { description: "SSH user name", examples: ["deploy"] });
const hostKey = text(8_192, {
  description: "Host key, as a fingerprint or a public key line",
  examples: ["SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU"],
});
const sshPassword = text(1_000, { description: "This or sshPrivateKey. Never shown again", examples: ["…"] });
const sshPrivateKey = text(32_768, {
  description: "SSH private key in OpenSSH format; this or sshPassword. Never shown again",
  examples: ["-----BEGIN OPENSSH PRIVATE KEY-----…"],
});
const sshKeyPassphrase = text(1_000, { description: "Passphrase of the private key", examples: ["…"] });

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
    id: t.String({ description: "ID of the server", examples: ["srv_01m7edka8326kz9mv55sbbg868"] }),
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
        hostKey: "Fingerprint of the host key; null until it is set or a check records it",
        hasSshPassword: "Whether a password is stored",
        hasSshPrivateKey: "Whether a private key is stored",
        hasSshKeyPassphrase: "Whether a passphrase for the private key is stored",
        lastCheckedAt: "Time of the last check; null if there was none",
        lastCheckError: "Error of the last check; null if it succeeded",
        createdAt: "Creation time",
        updatedAt: "Time of the last change",
      },
    ),
  },
  { title: "Server" },
);

export const ReportFields = {
  server: ServerView,
  hostKey: t.String({ description: "Fingerprint of the host key that the server presented" }),
  engine: about(
    "Container engine of the server; null if none responded",
    nullable(
      object({
        name: t.Literal("docker", { description: "Name of the engine" }),
        version: t.String({ description: "Version of the engine", examples: ["28.2.2"] }),
      }),
    ),
  ),
  message: t.String({ description: "Result of the check and what to do next" }),
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
