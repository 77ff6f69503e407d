import { t } from "elysia";
import type { UploadSession } from "../../domain/upload.ts";
import { integer, nullable, object, oneOf, Time } from "../schema.ts";

const Found = (example: string) => nullable(t.String({ examples: [example] }));

/** What a folder or repository was found to be. */
export const DetectionView = object(
  {
    language: Found("javascript"),
    languageVersion: Found("22"),
    framework: Found("bun"),
    packageManager: Found("bun"),
    packageManagerVersion: Found("1.3.0"),
    installCommand: Found("bun install --frozen-lockfile"),
    buildCommand: Found("bun run build"),
    startCommand: Found("bun run start"),
    outputDirectory: Found("dist"),
    rootDirectory: Found("."),
    port: nullable(integer({ examples: [3000] })),
    projectType: oneOf(["app", "static", "docker", "services"] as const),
    dockerfile: Found("Dockerfile"),
    composeFile: Found("compose.yaml"),
    baseImage: Found("node:22-bookworm-slim"),
    services: t.Array(
      object({
        name: t.String(),
        rootDirectory: nullable(t.String()),
        dockerfile: t.Optional(t.String()),
        image: t.Optional(t.String()),
        port: t.Optional(integer()),
      }),
    ),
    env: t.Array(object({ key: t.String(), required: t.Boolean() })),
    warnings: t.Array(t.String()),
  },
  { title: "Detection" },
);

/** An upload session that waits to be filled or deployed. */
export const WaitingUploadView = object(
  {
    id: t.String({ examples: ["upl_01m7edka8326kz9mv55sbbg868"] }),
    name: nullable(t.String({ examples: ["harbour"] })),
    mode: oneOf(["local", "cloud"] as const),
    state: oneOf(["open", "receiving", "ready"] as const, {
      description: "Waits for its folder, takes it, or holds one that can be deployed",
    }),
    bytes: nullable(integer()),
    sha256: nullable(t.String()),
    files: nullable(integer()),
    createdAt: Time,
    expiresAt: Time,
  },
  { title: "Upload session" },
);

/** What is told of an upload session. */
export function waitingUploadView(session: UploadSession) {
  const { organizationId: _, userId: __, createdAt, expiresAt, ...rest } = session;
  return { ...rest, createdAt: createdAt.toISOString(), expiresAt: expiresAt.toISOString() };
}
