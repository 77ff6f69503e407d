import type { TNull, TOptional, TUnion } from "@sinclair/typebox";
import { t } from "elysia";
import { PREVIEW_DEFAULTS, PREVIEW_LIMITS } from "../../domain/projects/previews.ts";
import { previewsOf, type Project, sourceOf } from "../../domain/projects/project.ts";
import { ENVIRONMENT, LOCATION, PROJECT_TYPE, RUNTIME, SOURCE, VARIABLE_SET } from "../meanings.ts";
import { about, described, explained, integer, nullable, object, parameters, text, Time } from "../schema.ts";
import { EndpointSchema, ServiceSchema } from "./service_schemas.ts";

const projectName = text(100, { description: "Name of the project", examples: ["Harbour"] });
const projectSlug = text(40, {
  examples: ["harbour"],
  description: "Slug: lower-case letters, digits and -; unique in the organization",
});
const command = (example: string) => text(2_000, { examples: [example] });

const plain = {
  gitOwner: text(100, { examples: ["acme"] }),
  gitRepo: text(100, { examples: ["harbour"] }),
  gitBranch: text(244, { examples: ["main"] }),
  gitUrl: text(2_000, {
    description: "URL (https or ssh) of a repository on any git server; a project has either this or a localPath",
    examples: ["https://git.example.com/acme/harbour.git"],
  }),
  localPath: text(4_000, {
    description:
      "Folder on this machine, instead of a gitUrl; self-hosted only. A folder outside of LOCAL_SOURCE_ROOTS needs project:admin",
    examples: ["/srv/harbour"],
  }),
  framework: text(100, { examples: ["bun"] }),
  packageManager: text(100, { examples: ["bun"] }),
  installCommand: command("bun install"),
  buildCommand: command("bun run build"),
  startCommand: command("bun run start"),
  outputDirectory: text(1_000, { examples: ["dist"] }),
  rootDirectory: text(1_000, { examples: ["apps/web"] }),
  dockerfile: text(1_000, { examples: ["Dockerfile"] }),
  buildTarget: text(200, { examples: ["production"] }),
  buildArgs: t.Record(t.String({ maxLength: 200 }), t.String({ maxLength: 10_000 }), {
    description: "Build arguments of the Dockerfile. Not secret: they can be read from the image",
    maxProperties: 100,
    examples: [{ EDITION: "community" }],
  }),
  port: integer({ minimum: 1, maximum: 65_535, examples: [3000] }),
  projectType: explained(PROJECT_TYPE, { title: "ProjectType", examples: ["app"] }),
  services: t.Array(ServiceSchema, {
    maxItems: 100,
    examples: [[]],
    description: "Services, validated as for a deployment; variables given by name only may be set later",
  }),
  publicEndpoints: t.Array(EndpointSchema, { maxItems: 100, examples: [[]] }),
  rollbackWindow: integer({ minimum: 0, maximum: 100, examples: [5] }),
  healthPath: text(1_000, { examples: ["/health"] }),
  requireApproval: t.Boolean({ examples: [false] }),
  runtime: explained(RUNTIME, { title: "Runtime", examples: ["process"] }),
  hostPaths: t.Array(text(4_000), {
    maxItems: 100,
    description:
      "Paths on this machine and names of existing volumes that services may mount; needs project:admin, self-hosted only",
    examples: [[]],
  }),
};

const fields = described(plain, {
  gitOwner: "Owner of the repository on the git host",
  gitRepo: "Name of the repository on the git host",
  gitBranch: "Branch to deploy. Defaults to the default branch of the repository",
  framework: "Framework. Defaults to the detected one, as all build and start settings do",
  packageManager: "Package manager",
  installCommand: "Command that installs the packages",
  buildCommand: "Command that builds the project",
  startCommand: "Command that starts the project, which must listen on the port in the variable PORT",
  outputDirectory: "Output folder of the build of a static site, relative to rootDirectory",
  rootDirectory: "Folder of the project inside the source",
  dockerfile: "Path of the Dockerfile, relative to rootDirectory",
  buildTarget: "Target stage of the Dockerfile. Defaults to the last stage",
  port: "Port that the project listens on. Defaults to the detected one",
  projectType: "Type of the project. Defaults to the detected one",
  publicEndpoints: "Addresses and the services they route to. Defaults to one address for the main service",
  rollbackWindow: "Number of former releases that keep their files. Defaults to the setting ROLLBACK_WINDOW",
  healthPath:
    "Path that must respond with a status below 400 before a release gets traffic. By default the HEALTHCHECK of the image counts, else an accepted connection",
  requireApproval: "Whether every build waits for an approval. Defaults to false",
  runtime: "Runtime that builds and runs the project. Defaults to that of the installation",
});

type Settings = typeof fields;

const optional = Object.fromEntries(Object.entries(fields).map(([key, schema]) => [key, t.Optional(schema)])) as {
  [Key in keyof Settings]: TOptional<Settings[Key]>;
};

const clearable = Object.fromEntries(
  Object.entries(fields).map(([key, schema]) => [key, t.Optional(nullable(schema))]),
) as unknown as {
  [Key in keyof Settings]: TOptional<TUnion<[Settings[Key], TNull]>>;
};

export const ProjectBody = object({ name: projectName, slug: t.Optional(projectSlug), ...optional });
export const EnsureBody = object({
  name: projectName,
  slug: t.Optional(projectSlug),
  projectId: t.Optional(
    text(100, {
      description:
        "Project to update. Defaults to the one with the slug. With a link token, an unknown ID is that of the project to create",
    }),
  ),
  ...clearable,
});
export const ProjectPatch = object({ name: t.Optional(projectName), slug: t.Optional(projectSlug), ...clearable });

export const LinkBody = object({
  owner: fields.gitOwner,
  repo: fields.gitRepo,
  branch: t.Optional(fields.gitBranch),
});
export const AutoDeployBody = object({
  enabled: t.Boolean({ description: "Whether to deploy every push", examples: [false] }),
});

const PreviewsView = object(
  described(
    {
      enabled: t.Boolean(),
      max: integer({ minimum: 1, maximum: PREVIEW_LIMITS.max }),
      ttlHours: integer({ minimum: 1, maximum: PREVIEW_LIMITS.ttlHours }),
    },
    {
      enabled: "Whether every pull request of the linked repository gets a preview",
      max: "How many pull requests have a preview at a time; the oldest preview ends for another",
      ttlHours: "Hours after which a preview ends",
    },
  ),
);
export const PreviewsBody = object({
  enabled: t.Boolean({ description: "Whether every pull request gets a preview", examples: [true] }),
  max: t.Optional(
    integer({
      minimum: 1,
      maximum: PREVIEW_LIMITS.max,
      description: `How many pull requests have a preview at a time. Stays as it is by default, ${PREVIEW_DEFAULTS.max} at first`,
    }),
  ),
  ttlHours: t.Optional(
    integer({
      minimum: 1,
      maximum: PREVIEW_LIMITS.ttlHours,
      description: `Hours after which a preview ends. Stays as it is by default, ${PREVIEW_DEFAULTS.ttlHours} at first`,
    }),
  ),
});

const shown = Object.fromEntries(Object.entries(fields).map(([key, schema]) => [key, nullable(schema)]));

export const ProjectView = object(
  {
    id: t.String({ description: "ID of the project", examples: ["prj_01m7edka8326kz9mv55sbbg868"] }),
    name: projectName,
    slug: projectSlug,
    organizationId: t.String({ description: "ID of the organization" }),
    hostname: t.String({ description: "Free host name of the project", examples: ["harbour.localhost"] }),
    source: explained(SOURCE, { title: "ProjectSource", description: "Type of the source" }),
    ...shown,
    autoDeploy: t.Boolean({ description: "Whether every push to the linked repository is deployed" }),
    previews: about("Previews of pull requests", PreviewsView),
    activeDeploymentId: nullable(t.String({ description: "ID of the live deployment; null if none is live" })),
    location: explained(LOCATION, { title: "Location", description: "Where the project runs" }),
    serverId: nullable(t.String({ description: "ID of the server that the project runs on; null for this machine" })),
    createdAt: about("Creation time", Time),
    updatedAt: about("Time of the last change", Time),
  },
  { title: "Project" },
);

const UNSET = Object.fromEntries(Object.keys(fields).map((key) => [key, null])) as { [Key in keyof Settings]: null };

/** Converts a project for the API. Every setting is present, `null` where it is not set. */
export function projectView(project: Project) {
  const { id, name, slug, organizationId, hostname, activeDeploymentId, location, serverId } = project;
  const { gitAccess: _, gitSubmodules: __, inCloud: ___, localPathByAdmin: ____, ...settings } = project.settings;
  return {
    id,
    name,
    slug,
    organizationId,
    hostname,
    source: sourceOf(settings),
    ...UNSET,
    ...settings,
    autoDeploy: settings.autoDeploy ?? false,
    previews: previewsOf(project),
    activeDeploymentId,
    location,
    serverId,
    createdAt: project.createdAt.toISOString(),
    updatedAt: project.updatedAt.toISOString(),
  };
}

export const VolumeView = object(
  {
    name: t.String({ description: "Name by which the services mount it", examples: ["data"] }),
    environment: explained(ENVIRONMENT, {
      title: "Environment",
      description: "Environment of the volume; all releases of the project share those of production",
    }),
    deploymentId: nullable(t.String({ description: "ID of its preview; null for a production volume" })),
    sizeBytes: nullable(
      integer({ description: "null if Docker cannot determine the size, or not in time", examples: [4_096] }),
    ),
  },
  { title: "Volume" },
);

const VARIABLE_KEY =
  "Key of the variable: NAME for every service, or SERVICE/NAME for the service of that name only, whose other variables it overrides";
/** A service name, a slash and a variable name. */
const MAX_VARIABLE_KEY = 63 + 1 + 255;

export const VariableView = object(
  {
    key: t.String({ description: VARIABLE_KEY, examples: ["DATABASE_URL", "db/POSTGRES_PASSWORD"] }),
    value: nullable(t.String({ description: "Value; null if the variable is secret" })),
    secret: t.Boolean({ description: "Whether the value is write-only" }),
    updatedAt: about("Time of the last write", Time),
  },
  { title: "Variable" },
);

export const VariablesQuery = parameters({
  environment: t.Optional(
    explained(VARIABLE_SET, { description: "Environment whose variables are meant; defaults to production" }),
  ),
});

export const VariablesBody = object({
  upserts: t.Optional(
    t.Array(
      object({
        key: text(MAX_VARIABLE_KEY, {
          description: VARIABLE_KEY,
          examples: ["DATABASE_URL", "db/POSTGRES_PASSWORD"],
        }),
        value: t.String({ maxLength: 65_536, description: "New value", examples: ["postgres://…"] }),
        secret: t.Optional(
          t.Boolean({ description: "Makes the value write-only. If omitted: unchanged", examples: [true] }),
        ),
      }),
      { maxItems: 500, description: "Variables to create or overwrite" },
    ),
  ),
  deletes: t.Optional(
    t.Array(text(MAX_VARIABLE_KEY), {
      maxItems: 500,
      description: "Keys of variables to delete",
      examples: [["OLD_KEY", "db/OLD_KEY"]],
    }),
  ),
});
