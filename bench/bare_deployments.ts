import postgres from "postgres";

/** The bare work: the same SQL, the same JSON, nothing else. Started by the benchmark with address, organization and deployment as arguments. */
const [url = "", organizationId = "", deploymentId = ""] = process.argv.slice(2);
const sql = postgres(url, {
  max: 10,
  fetch_types: false,
  types: { bigint: { to: 20, from: [20], parse: Number, serialize: String } },
});

const COLUMNS =
  "id, organization_id, project_id, version, status, held, cancel_requested, attempts, created_at, queued_at, record";

const LIST = `select counted.total, listed.*
  from (select count(*) as total from deployments where organization_id = $1) as counted
  left join (select true as listed, ${COLUMNS} from deployments where organization_id = $1 order by created_at desc, id desc limit $2 offset $3) as listed on true
  order by created_at desc, id desc`;

const GET = `select ${COLUMNS} from deployments where id = $1 and organization_id = $2`;
const ACTIVE = "select active_deployment_id as id from projects where active_deployment_id = any ($1::text[])";

async function views(rows: readonly postgres.Row[]) {
  const found = await sql.unsafe(ACTIVE, [`{${rows.map(({ id }) => id).join(",")}}`], { prepare: true });
  const active = new Set(found.map(({ id }) => id));
  return rows.map((row) => view(row, active.has(row.id)));
}

function time(text: string | null): Date | null {
  return text === null ? null : new Date(text);
}

function view(row: postgres.Row, active: boolean) {
  const { record } = row;
  const [startedAt, builtAt, finishedAt] = [time(record.startedAt), time(record.builtAt), time(record.finishedAt)];
  return {
    id: row.id,
    projectId: row.project_id,
    organizationId: row.organization_id,
    status: row.status,
    decision: record.decision,
    active,
    pinned: record.pinned,
    trigger: record.trigger,
    environment: record.environment,
    branch: record.branch,
    commitSha: record.commitSha,
    commitMessage: record.commitMessage,
    framework: record.framework,
    url: record.urls[0] ?? null,
    urls: record.urls,
    services: record.services.map((service: Record<string, unknown>) => ({
      name: service["name"],
      status: service["status"],
      url: service["url"],
      error: service["error"],
    })),
    waitingFor: null,
    error: record.error,
    createdAt: row.created_at.toISOString(),
    queuedAt: row.queued_at.toISOString(),
    startedAt: startedAt?.toISOString() ?? null,
    builtAt: builtAt?.toISOString() ?? null,
    finishedAt: finishedAt?.toISOString() ?? null,
    durationMs: startedAt && finishedAt ? finishedAt.getTime() - startedAt.getTime() : null,
    buildMs: startedAt && builtAt ? builtAt.getTime() - startedAt.getTime() : null,
    artifactAvailable: record.artifactAvailable,
    rollbackOf: record.rollbackOf,
    redeployOf: record.redeployOf,
    version: row.version,
  };
}

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch(request) {
    if (request.url.includes("/list")) {
      const rows = await sql.unsafe(LIST, [organizationId, 50, 0], { prepare: true });
      return Response.json({
        success: true,
        data: await views(rows),
        total: rows[0]!.total,
        page: 1,
        perPage: 50,
      });
    }
    const [data] = await views(await sql.unsafe(GET, [deploymentId, organizationId], { prepare: true }));
    return Response.json({ data });
  },
});

process.stdout.write(`${server.port}\n`);
