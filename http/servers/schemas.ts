import { t } from "elysia";
import type { Server } from "../../domain/server.ts";
import { integer, nullable, object, text, Time } from "../schema.ts";

const name = text(80, { examples: ["Berlin 1"] });
const sshHost = text(253, { examples: ["203.0.113.7"] });
const sshPort = integer({ minimum: 1, maximum: 65_535, default: 22, examples: [22] });
const sshUser = text(64, { examples: ["deploy"] });
const hostKey = text(8_192, {
  description: "A fingerprint or a public key line",
  examples: ["SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU"],
});
const sshPassword = text(1_000, { examples: ["…"] });
const sshPrivateKey = text(32_768, { examples: ["-----BEGIN OPENSSH PRIVATE KEY-----…"] });
const sshKeyPassphrase = text(1_000, { examples: ["…"] });

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
  sshPort: t.Optional(integer({ minimum: 1, maximum: 65_535 })),
  sshUser: t.Optional(sshUser),
  sshPassword: t.Optional(nullable(sshPassword)),
  sshPrivateKey: t.Optional(nullable(sshPrivateKey)),
  sshKeyPassphrase: t.Optional(nullable(sshKeyPassphrase)),
  hostKey: t.Optional(nullable(hostKey)),
});

export const ServerView = object(
  {
    id: t.String({ examples: ["srv_01m7edka8326kz9mv55sbbg868"] }),
    name,
    sshHost,
    sshPort,
    sshUser,
    hostKey: nullable(t.String()),
    hasSshPassword: t.Boolean(),
    hasSshPrivateKey: t.Boolean(),
    hasSshKeyPassphrase: t.Boolean(),
    lastCheckedAt: nullable(Time),
    lastCheckError: nullable(t.String()),
    createdAt: Time,
    updatedAt: Time,
  },
  { title: "Server" },
);

export const ReportFields = {
  server: ServerView,
  hostKey: t.String(),
  engine: nullable(object({ name: t.Literal("docker"), version: t.String({ examples: ["28.2.2"] }) })),
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
