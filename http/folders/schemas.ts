import { t } from "elysia";
import { integer, nullable, object, oneOf } from "../schema.ts";

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
