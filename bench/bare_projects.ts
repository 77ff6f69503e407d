import type postgres from "postgres";
import { sourceOf } from "../domain/projects/project.ts";
import { serveBare } from "./bare_server.ts";

const COLUMNS =
  "id, organization_id, name, slug, hostname, settings, location, server_id, active_deployment_id, created_at, updated_at";

const UNSET = {
  gitOwner: null,
  gitRepo: null,
  gitBranch: null,
  gitUrl: null,
  localPath: null,
  framework: null,
  packageManager: null,
  installCommand: null,
  buildCommand: null,
  startCommand: null,
  outputDirectory: null,
  rootDirectory: null,
  port: null,
  projectType: null,
  services: null,
  publicEndpoints: null,
  rollbackWindow: null,
  healthPath: null,
  requireApproval: null,
  runtime: null,
};

function view(row: postgres.Row) {
  return {
    id: row.id,
    name: row.name,
    slug: row.slug,
    organizationId: row.organization_id,
    hostname: row.hostname,
    source: sourceOf(row.settings),
    ...UNSET,
    ...row.settings,
    autoDeploy: row.settings.autoDeploy ?? false,
    activeDeploymentId: row.active_deployment_id,
    location: row.location,
    serverId: row.server_id,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}

serveBare({ table: "projects", columns: COLUMNS, views: (rows) => rows.map(view) });
