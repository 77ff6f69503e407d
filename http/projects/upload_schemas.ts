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
      name: t.String({ description: "What the others find it by" }),
      rootDirectory: nullable(t.String({ description: "The folder it is built in; null for the whole source" })),
      dockerfile: t.Optional(t.String({ description: "The Dockerfile it is built by, in its folder" })),
      image: t.Optional(t.String({ description: "The image that it is" })),
      port: t.Optional(integer({ description: "The port that it listens on inside" })),
    }),
  ),
  env: t.Array(
    object({
      key: t.String({ description: "Its name" }),
      required: t.Boolean({ description: "Whether the project gives no usable value for it" }),
    }),
  ),
  warnings: t.Array(t.String()),
};

/** The detection result of a folder or repository. */
export const DetectionView = object(
  described(fields, {
    language: "The language; null when it could not be told",
    languageVersion: "The version that the project asks for, else the one used by default",
    framework: "The framework; null when there is none",
    packageManager: "What installs its packages; null when nothing does",
    packageManagerVersion: "Only when the project says which",
    installCommand: "How its packages are installed; null when there are none",
    buildCommand: "How it is built; null when it is not",
    startCommand: "How it is started; null for a site, a Dockerfile, or when it could not be told",
    outputDirectory: "Where the build leaves its result, relative to rootDirectory",
    rootDirectory: "The folder of the project inside what was given; null for the whole",
    port: "Where it listens when nothing says otherwise",
    projectType: "What kind of project it is",
    dockerfile: "The Dockerfile that was found; null when there is none",
    composeFile: "The compose file that was found; null when there is none",
    baseImage: "The image that it would run on; null when it fits into none",
    services: "Its services, where it has several",
    env: "The variables that it says it reads",
    warnings: "What stands in the way or should be looked at, as sentences",
  }),
  { title: "Detection" },
);

/** An upload session that waits to be filled or deployed. */
export const WaitingUploadView = object(
  {
    id: t.String({ description: "The session", examples: ["upl_01m7edka8326kz9mv55sbbg868"] }),
    name: nullable(t.String({ description: "What the folder is called", examples: ["harbour"] })),
    mode: explained(UPLOAD_MODE, { description: "What it is for" }),
    state: explained(WAITING_UPLOAD_STATE, { description: "How it stands" }),
    bytes: nullable(integer({ description: "How large the archive was; null before it came" })),
    sha256: nullable(t.String({ description: "Its SHA-256" })),
    files: nullable(integer({ description: "How many files it held" })),
    createdAt: about("When it was opened", Time),
    expiresAt: about("Until when a folder can be uploaded and deployed", Time),
  },
  { title: "UploadSession" },
);

/** Converts an upload session for the API. */
export function waitingUploadView(session: UploadSession) {
  const { organizationId: _, userId: __, createdAt, expiresAt, ...rest } = session;
  return { ...rest, createdAt: createdAt.toISOString(), expiresAt: expiresAt.toISOString() };
}
