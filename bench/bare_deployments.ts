import type postgres from "postgres";
import { serveBare } from "./bare_server.ts";

const COLUMNS =
  "id, organization_id, project_id, version, status, held, cancel_requested, attempts, created_at, queued_at, record";

const STANDINGS = `select requested.id, coalesce(projects.active_deployment_id = requested.id, false) as active,
    case when requested.status = 'queued' then (
      select busy.id from deployments as busy
      where busy.project_id = requested.project_id and busy.status in ('building', 'deploying', 'partial_failure')
    ) end as waiting
  from deployments as requested join projects on projects.id = requested.project_id`;

async function views(rows: readonly postgres.Row[], sql: postgres.Sql) {
  const ids = rows.map(({ id }) => id as string);
  const found =
    ids.length === 1
      ? await sql.unsafe(`${STANDINGS} where requested.id = $1`, [ids[0]!], { prepare: true })
      : await sql.unsafe(`${STANDINGS} where requested.id = any ($1::text[])`, [`{${ids.join(",")}}`], {
          prepare: true,
        });
  const standings = new Map(found.map((standing) => [standing.id, standing]));
  return rows.map((row) => view(row, standings.get(row.id)!));
}

function time(text: string | null): Date | null {
  return text === null ? null : new Date(text);
}

function view(row: postgres.Row, { active, waiting }: postgres.Row) {
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
    waitingFor: waiting,
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

serveBare({ table: "deployments", columns: COLUMNS, views, beside: { success: true } });
