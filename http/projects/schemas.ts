import type { TNull, TOptional, TUnion } from "@sinclair/typebox";
import { t } from "elysia";
import { type Project, PROJECT_TYPES, RUNTIMES, sourceOf } from "../../domain/project.ts";
import { integer, nullable, object, oneOf, text, Time } from "../schema.ts";
import { EndpointSchema, ServiceSchema } from "./service_schemas.ts";

const projectName = text(100, { examples: ["Harbour"] });
const projectSlug = text(40, {
  examples: ["harbour"],
  description: "Lower-case letters, digits and -; unique in the organization",
});
const command = (example: string) => text(2_000, { examples: [example] });

const fields = {
  gitOwner: text(100, { examples: ["acme"] }),
  gitRepo: text(100, { examples: ["harbour"] }),
  gitBranch: text(244, { examples: ["main"] }),
  gitUrl: text(2_000, {
    description: "https or ssh, any git server",
    examples: ["https://git.example.com/acme/harbour.git"],
  }),
  localPath: text(4_000, {
    description: "A folder of the host; self-hosted only. Only admins name one outside of LOCAL_SOURCE_ROOTS",
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
  projectType: oneOf(PROJECT_TYPES, { examples: ["app"] }),
  services: t.Array(ServiceSchema, {
    maxItems: 100,
    examples: [[]],
    description: "Checked as for a deployment; variables that are only named may be set later",
  }),
  publicEndpoints: t.Array(EndpointSchema, { maxItems: 100, examples: [[]] }),
  rollbackWindow: integer({ minimum: 0, maximum: 100, examples: [5] }),
  healthPath: text(1_000, { examples: ["/health"] }),
  requireApproval: t.Boolean({ examples: [false] }),
  runtime: oneOf(RUNTIMES, { examples: ["process"] }),
  hostPaths: t.Array(text(4_000), {
    maxItems: 100,
    description:
      "Paths of the machine and names of its volumes that services may use; set with project:admin, self-hosted only",
    examples: [[]],
  }),
};

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
  projectId: t.Optional(text(100)),
  ...clearable,
});
export const ProjectPatch = object({ name: t.Optional(projectName), slug: t.Optional(projectSlug), ...clearable });

export const LinkBody = object({
  owner: fields.gitOwner,
  repo: fields.gitRepo,
  branch: t.Optional(fields.gitBranch),
});
export const AutoDeployBody = object({ enabled: t.Boolean({ examples: [false] }) });

const shown = Object.fromEntries(Object.entries(fields).map(([key, schema]) => [key, nullable(schema)]));

export const ProjectView = object(
  {
    id: t.String({ examples: ["prj_01m7edka8326kz9mv55sbbg868"] }),
    name: projectName,
    slug: projectSlug,
    organizationId: t.String(),
    hostname: t.String({ description: "Its free address", examples: ["harbour.localhost"] }),
    source: oneOf(["githost", "git", "local", "upload"] as const),
    ...shown,
    autoDeploy: t.Boolean(),
    activeDeploymentId: nullable(t.String()),
    location: oneOf(["local", "server", "cloud"] as const),
    serverId: nullable(t.String()),
    createdAt: Time,
    updatedAt: Time,
  },
  { title: "Project" },
);

const UNSET = Object.fromEntries(Object.keys(fields).map((key) => [key, null])) as { [Key in keyof Settings]: null };

/** A project as the API shows it: every setting is there, `null` where it is not set. */
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
    environment: oneOf(["production", "preview"] as const, {
      description: "production: shared by all releases of the project",
    }),
    deploymentId: nullable(t.String({ description: "The preview that it belongs to" })),
    sizeBytes: nullable(integer({ description: "null when Docker cannot tell, or not in time", examples: [4_096] })),
  },
  { title: "Volume" },
);

export const VariableView = object(
  {
    key: t.String({ examples: ["DATABASE_URL"] }),
    value: nullable(t.String({ description: "null where it is secret" })),
    secret: t.Boolean(),
    updatedAt: Time,
  },
  { title: "Variable" },
);

export const VariablesBody = object({
  upserts: t.Optional(
    t.Array(
      object({
        key: text(255, { examples: ["DATABASE_URL"] }),
        value: t.String({ maxLength: 65_536, examples: ["postgres://…"] }),
        secret: t.Optional(
          t.Boolean({ description: "Its value never comes back; left out: as it was", examples: [true] }),
        ),
      }),
      { maxItems: 500 },
    ),
  ),
  deletes: t.Optional(t.Array(text(255), { maxItems: 500, examples: [["OLD_KEY"]] })),
});
