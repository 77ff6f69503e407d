import type { TNull, TOptional, TUnion } from "@sinclair/typebox";
import { t } from "elysia";
import { type Project, sourceOf } from "../../domain/projects/project.ts";
import { ENVIRONMENT, LOCATION, PROJECT_TYPE, RUNTIME, SOURCE } from "../meanings.ts";
import { about, described, explained, integer, nullable, object, text, Time } from "../schema.ts";
import { EndpointSchema, ServiceSchema } from "./service_schemas.ts";

const projectName = text(100, { description: "What the project is called", examples: ["Harbour"] });
const projectSlug = text(40, {
  examples: ["harbour"],
  description: "Lower-case letters, digits and -; unique in the organization",
});
const command = (example: string) => text(2_000, { examples: [example] });

const plain = {
  gitOwner: text(100, { examples: ["acme"] }),
  gitRepo: text(100, { examples: ["harbour"] }),
  gitBranch: text(244, { examples: ["main"] }),
  gitUrl: text(2_000, {
    description: "https or ssh, any git server; a project has this or a localPath",
    examples: ["https://git.example.com/acme/harbour.git"],
  }),
  localPath: text(4_000, {
    description:
      "A folder of the host, instead of a gitUrl; self-hosted only. Only admins name one outside of LOCAL_SOURCE_ROOTS",
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
    description: "Arguments of the Dockerfile; everybody who has the image can read them",
    maxProperties: 100,
    examples: [{ EDITION: "community" }],
  }),
  port: integer({ minimum: 1, maximum: 65_535, examples: [3000] }),
  projectType: explained(PROJECT_TYPE, { title: "ProjectType", examples: ["app"] }),
  services: t.Array(ServiceSchema, {
    maxItems: 100,
    examples: [[]],
    description: "Checked as for a deployment; variables that are only named may be set later",
  }),
  publicEndpoints: t.Array(EndpointSchema, { maxItems: 100, examples: [[]] }),
  rollbackWindow: integer({ minimum: 0, maximum: 100, examples: [5] }),
  healthPath: text(1_000, { examples: ["/health"] }),
  requireApproval: t.Boolean({ examples: [false] }),
  runtime: explained(RUNTIME, { title: "Runtime", examples: ["process"] }),
  hostPaths: t.Array(text(4_000), {
    maxItems: 100,
    description:
      "Paths of the machine and names of its volumes that services may use; set with project:admin, self-hosted only",
    examples: [[]],
  }),
};

const fields = described(plain, {
  gitOwner: "The owner of its repository on the git host",
  gitRepo: "The name of its repository on the git host",
  gitBranch: "The branch that is deployed. Defaults to the repository's own default",
  framework: "Defaults to what is detected, as everything does that says how it is built and started",
  packageManager: "What installs its packages",
  installCommand: "How its packages are installed",
  buildCommand: "How it is built",
  startCommand: "How it is started; it has to listen on the port in the variable PORT",
  outputDirectory: "Where the build leaves a site, relative to rootDirectory",
  rootDirectory: "The folder of the project inside its source",
  dockerfile: "The Dockerfile that it is built by, relative to rootDirectory",
  buildTarget: "The stage of the Dockerfile to stop at. Defaults to the last",
  port: "Where it listens. Defaults to what is detected",
  projectType: "What kind of project it is. Defaults to what is detected",
  publicEndpoints: "Which addresses lead to which service. Defaults to one for the main service",
  rollbackWindow: "How many former releases keep their files. Defaults to ROLLBACK_WINDOW of the installation",
  healthPath:
    "The path that has to answer with a status below 400 before visitors are led to it. Defaults to none: a connection is enough",
  requireApproval: "Whether every build waits until somebody approves it. Defaults to false",
  runtime: "What it is built and run by. Defaults to what the installation uses",
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
  projectId: t.Optional(text(100, { description: "The project to update. Defaults to the one of the slug" })),
  ...clearable,
});
export const ProjectPatch = object({ name: t.Optional(projectName), slug: t.Optional(projectSlug), ...clearable });

export const LinkBody = object({
  owner: fields.gitOwner,
  repo: fields.gitRepo,
  branch: t.Optional(fields.gitBranch),
});
export const AutoDeployBody = object({
  enabled: t.Boolean({ description: "Whether every push is deployed", examples: [false] }),
});

const shown = Object.fromEntries(Object.entries(fields).map(([key, schema]) => [key, nullable(schema)]));

export const ProjectView = object(
  {
    id: t.String({ description: "The id of the project", examples: ["prj_01m7edka8326kz9mv55sbbg868"] }),
    name: projectName,
    slug: projectSlug,
    organizationId: t.String({ description: "Whose it is" }),
    hostname: t.String({ description: "Its free address", examples: ["harbour.localhost"] }),
    source: explained(SOURCE, { title: "ProjectSource", description: "Where its code comes from" }),
    ...shown,
    autoDeploy: t.Boolean({ description: "Whether every push to the linked repository is deployed" }),
    activeDeploymentId: nullable(t.String({ description: "The live release; null when nothing serves" })),
    location: explained(LOCATION, { title: "Location", description: "Where it runs" }),
    serverId: nullable(t.String({ description: "The server that it runs on; null for this machine" })),
    createdAt: about("When it was made", Time),
    updatedAt: about("When it was last changed", Time),
  },
  { title: "Project" },
);

const UNSET = Object.fromEntries(Object.keys(fields).map((key) => [key, null])) as { [Key in keyof Settings]: null };

/** Converts a project for the API. Every setting is present, `null` where it is not set. */
export function projectView(project: Project) {
  const { id, name, slug, organizationId, hostname, activeDeploymentId, location, serverId } = project;
  const { localPathByAdmin: _, ...settings } = project.settings;
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
    activeDeploymentId,
    location,
    serverId,
    createdAt: project.createdAt.toISOString(),
    updatedAt: project.updatedAt.toISOString(),
  };
}

export const VolumeView = object(
  {
    name: t.String({ description: "As the services mount it", examples: ["data"] }),
    environment: explained(ENVIRONMENT, {
      title: "Environment",
      description: "production: shared by all releases of the project",
    }),
    deploymentId: nullable(t.String({ description: "The preview that it belongs to" })),
    sizeBytes: nullable(integer({ description: "null when Docker cannot tell, or not in time", examples: [4_096] })),
  },
  { title: "Volume" },
);

export const VariableView = object(
  {
    key: t.String({ description: "Its name", examples: ["DATABASE_URL"] }),
    value: nullable(t.String({ description: "null where it is secret" })),
    secret: t.Boolean({ description: "Whether its value never comes back" }),
    updatedAt: about("When it was last written", Time),
  },
  { title: "Variable" },
);

export const VariablesBody = object({
  upserts: t.Optional(
    t.Array(
      object({
        key: text(255, { description: "Its name", examples: ["DATABASE_URL"] }),
        value: t.String({ maxLength: 65_536, description: "Its new value", examples: ["postgres://…"] }),
        secret: t.Optional(
          t.Boolean({ description: "Its value never comes back; left out: as it was", examples: [true] }),
        ),
      }),
      { maxItems: 500, description: "Variables to write" },
    ),
  ),
  deletes: t.Optional(
    t.Array(text(255), { maxItems: 500, description: "Names of variables to delete", examples: [["OLD_KEY"]] }),
  ),
});
