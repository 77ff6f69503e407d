import { t } from "elysia";
import type { UploadSession } from "../../domain/projects/upload.ts";
import { PROJECT_TYPE, UPLOAD_MODE, WAITING_UPLOAD_STATE } from "../meanings.ts";
import { about, described, explained, integer, nullable, object, Time } from "../schema.ts";

const Found = (example: string) => nullable(t.String({ examples: [example] }));

const fields = {
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
  projectType: explained(PROJECT_TYPE, { title: "ProjectType" }),
  dockerfile: Found("Dockerfile"),
  composeFile: Found("compose.yaml"),
  baseImage: Found("node:22-bookworm-slim"),
  services: t.Array(
    object({
      name: t.String({ description: "Name, by which other services resolve it" }),
      rootDirectory: nullable(t.String({ description: "Folder that it is built in; null for the whole source" })),
      dockerfile: t.Optional(t.String({ description: "Path of its Dockerfile, in its folder" })),
      image: t.Optional(t.String({ description: "Image that it runs" })),
      port: t.Optional(integer({ description: "Port that it listens on inside" })),
    }),
  ),
  env: t.Array(
    object({
      key: t.String({ description: "Name of the variable" }),
      required: t.Boolean({ description: "Whether a value must be set, because the project has no usable one" }),
    }),
  ),
  warnings: t.Array(t.String()),
};

/** The detection result of a folder or repository. */
export const DetectionView = object(
  described(fields, {
    language: "Language; null if it could not be detected",
    languageVersion: "Version that the project requires, else the default version",
    framework: "Framework; null if there is none",
    packageManager: "Package manager; null if there is none",
    packageManagerVersion: "Version of the package manager; null if the project does not specify one",
    installCommand: "Command that installs the packages; null if there are none",
    buildCommand: "Command that builds the project; null if there is no build",
    startCommand: "Command that starts the project; null for a static site, a Dockerfile, or if not detected",
    outputDirectory: "Output folder of the build, relative to rootDirectory",
    rootDirectory: "Folder of the project inside the source; null for the whole source",
    port: "Default port that it listens on",
    projectType: "Type of the project",
    dockerfile: "Path of the detected Dockerfile; null if there is none",
    composeFile: "Path of the detected compose file; null if there is none",
    baseImage: "Base image to run on; null if no image fits",
    services: "Services, if there are several",
    env: "Environment variables that the project declares to read",
    warnings: "Warnings about problems and things to look into, as sentences",
  }),
  { title: "Detection" },
);

/** An upload session that waits to be filled or deployed. */
export const WaitingUploadView = object(
  {
    id: t.String({ description: "ID of the upload session", examples: ["upl_01m7edka8326kz9mv55sbbg868"] }),
    name: nullable(t.String({ description: "Name of the folder", examples: ["harbour"] })),
    mode: explained(UPLOAD_MODE, { description: "Purpose of the upload" }),
    state: explained(WAITING_UPLOAD_STATE, { description: "State of the session" }),
    bytes: nullable(integer({ description: "Size of the archive in bytes; null before the upload" })),
    sha256: nullable(t.String({ description: "SHA-256 digest of the archive" })),
    files: nullable(integer({ description: "Number of files in the archive" })),
    createdAt: about("Creation time", Time),
    expiresAt: about("Expiry time: until then a folder can be uploaded and deployed", Time),
  },
  { title: "UploadSession" },
);

/** Converts an upload session for the API. */
export function waitingUploadView(session: UploadSession) {
  const { organizationId: _, userId: __, createdAt, expiresAt, ...rest } = session;
  return { ...rest, createdAt: createdAt.toISOString(), expiresAt: expiresAt.toISOString() };
}
