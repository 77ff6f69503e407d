import postgres from "postgres";
import { sourceOf } from "../domain/project.ts";

/** The bare work: the same SQL, the same JSON, nothing else. Started by the benchmark with address, organization and project as arguments. */
const [url = "", organizationId = "", projectId = ""] = process.argv.slice(2);
const sql = postgres(url, {
  max: 10,
  fetch_types: false,
  types: { bigint: { to: 20, from: [20], parse: Number, serialize: String } },
});

const COLUMNS =
  "id, organization_id, name, slug, hostname, settings, location, server_id, active_deployment_id, created_at, updated_at";

const LIST = `select counted.total, listed.*
  from (select count(*) as total from projects where organization_id = $1) as counted
  left join (select true as listed, ${COLUMNS} from projects where organization_id = $1 order by created_at desc, id desc limit $2 offset $3) as listed on true
  order by created_at desc, id desc`;

const GET = `select ${COLUMNS} from projects where id = $1 and organization_id = $2`;

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

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch(request) {
    if (request.url.includes("/list")) {
      const rows = await sql.unsafe(LIST, [organizationId, 50, 0], { prepare: true });
      return Response.json({ data: rows.map(view), total: rows[0]!.total, page: 1, perPage: 50 });
    }
    const [row] = await sql.unsafe(GET, [projectId, organizationId], { prepare: true });
    return Response.json({ data: view(row!) });
  },
});

process.stdout.write(`${server.port}\n`);
