import type { Deployment } from "../../domain/deployments/deployment.ts";
import { conflict, notFound } from "../../domain/failure.ts";
import { Secret } from "../../domain/secret.ts";
import { uploadUsed } from "../../domain/projects/upload.ts";
import type { DeploymentChange, DeploymentContent, Deployments } from "../../ports/deployments/deployments.ts";
import type { Vault } from "../../ports/system/vault.ts";
import { sealServiceSet } from "./service_sets.ts";
import type { Database, Sql } from "./database.ts";
import { answerDue, deploymentColumns, type DeploymentRow, recordText, toDeployment } from "./deployment_row.ts";
import { WORK_CHANNEL } from "./deployment_queue.ts";
import { eventChunks, EVENTS_CHANNEL, insertChunks } from "./event_chunks.ts";
import { RecentRows } from "./recent_rows.ts";
import { SEALED_COLUMNS, sealedPlace } from "./sealed_columns.ts";

type Revised = DeploymentRow & { readonly revision: number };

/** Stores deployments in PostgreSQL with encrypted environments and service sets. */
export class PostgresDeployments implements Deployments {
  readonly #database: Database;
  readonly #vault: Vault;
  readonly #recent = new RecentRows<Revised>();

  constructor(database: Database, vault: Vault) {
    this.#database = database;
    this.#vault = vault;
  }

  async create(deployment: Deployment, { environment, events, serviceSet }: DeploymentContent): Promise<Deployment> {
    const { id, organizationId, projectId, status, held, cancelRequested, attempts } = deployment;
    const sealed = environment.size === 0 ? null : await this.#seal(id, environment);
    const composed = serviceSet ? await sealServiceSet(this.#vault, id, serviceSet) : null;
    const chunks = eventChunks(events);
    const uploadId = deployment.source.kind === "upload" ? deployment.source.uploadId : null;
    const [row] = await this.#database.run<readonly DeploymentRow[]>(
      (sql) => sql<DeploymentRow[]>`
        with found as (
          select id from projects where id = ${projectId} and organization_id = ${organizationId} for no key update
        ), used as (
          update upload_sessions set state = 'used' from found
          where upload_sessions.id = ${uploadId}::text and organization_id = ${organizationId} and state = 'ready'
          returning upload_sessions.id
        ), project as (
          update projects set last_version = last_version + 1 from found left join used on true
          where projects.id = found.id and (${uploadId}::text is null or used.id is not null)
          returning last_version
        ), created as (
          insert into deployments (id, organization_id, project_id, version, status, held, cancel_requested,
            answer_due, attempts, created_at, queued_at, last_seq, record)
          select ${id}::text, ${organizationId}::text, ${projectId}::text, project.last_version, ${status}::text,
            ${held}::boolean, ${cancelRequested}::boolean, ${answerDue(deployment)}::timestamptz, ${attempts}::integer,
            ${deployment.createdAt}::timestamptz, ${deployment.queuedAt}::timestamptz, ${chunks.count}::bigint,
            ${recordText(deployment)}::text::jsonb
          from project
          returning *
        ), stored as (${insertChunks(sql, "created", chunks)}
        ), sealed as (
          insert into deployment_environments (deployment_id, sealed_values)
          select id, ${sealed}::text from created where ${sealed}::text is not null
        ), composed as (
          insert into deployment_compositions (deployment_id, sealed_composition)
          select id, ${composed}::text from created where ${composed}::text is not null
        )
        select ${deploymentColumns(sql)}, ${notifications(sql, chunks.count, true)} from created`,
      { deployments_one_at_a_time: projectBusy },
    );
    if (row) return toDeployment(row);
    throw uploadId !== null && (await this.#hasProject(deployment)) ? uploadUsed() : notFound("project");
  }

  async find(organizationId: string, id: string): Promise<Deployment | undefined> {
    const [row] = await this.#database.run(
      (sql) => sql<DeploymentRow[]>`
        select ${deploymentColumns(sql)} from deployments where id = ${id} and organization_id = ${organizationId}`,
    );
    return row && toDeployment(row);
  }

  async get(id: string): Promise<Deployment | undefined> {
    const row = await this.#row(id);
    return row && toDeployment(row);
  }

  async ofProject(projectId: string): Promise<readonly Deployment[]> {
    const rows = await this.#database.run(
      (sql) => sql<DeploymentRow[]>`
        select ${deploymentColumns(sql)} from deployments where project_id = ${projectId}
        order by created_at desc, id desc`,
    );
    return rows.map(toDeployment);
  }

  async usingFilesOf(deploymentIds: readonly string[]): Promise<readonly Deployment[]> {
    if (deploymentIds.length === 0) return [];
    const rows = await this.#database.run(
      (sql) => sql<DeploymentRow[]>`
        select ${deploymentColumns(sql)} from deployments
        where record ->> 'artifactOf' = any (${deploymentIds}::text[])
          or record -> 'source' ->> 'deploymentId' = any (${deploymentIds}::text[])
          or exists (
            select from jsonb_array_elements(record -> 'services') as service
            where service ->> 'filesOf' = any (${deploymentIds}::text[]))`,
    );
    return rows.map(toDeployment);
  }

  async change(
    id: string,
    how: (deployment: Deployment) => DeploymentChange | undefined,
  ): Promise<Deployment | undefined> {
    // Optimistic concurrency: holds no lock, and recomputes a change that was computed from an outdated revision.
    const recent = this.#recent.get(id, this.#database.epoch);
    const early = recent && attempted(() => how(toDeployment(recent)));
    const stored = early && (await this.#write(recent, early));
    if (stored) return toDeployment(stored);
    for (;;) {
      const row = await this.#row(id);
      if (!row) return undefined;
      const change = how(toDeployment(row));
      if (!change) return toDeployment(row);
      const changed = await this.#write(row, change);
      if (changed) return toDeployment(changed);
    }
  }

  async environment(id: string): Promise<ReadonlyMap<string, Secret>> {
    const [row] = await this.#database.run(
      (sql) => sql<{ sealed_values: string }[]>`
        select sealed_values from deployment_environments where deployment_id = ${id}`,
    );
    if (!row) return new Map();
    const opened = await this.#vault.open(row.sealed_values, sealedPlace(SEALED_COLUMNS.deploymentEnvironment, id));
    const entries = JSON.parse(opened.reveal()) as [string, string][];
    return new Map(entries.map(([key, value]) => [key, new Secret(value)]));
  }

  async remove(organizationId: string, id: string): Promise<boolean> {
    // Locks the project first, as removing the whole project does, so that the two cannot deadlock.
    const rows = await this.#database.run(
      (sql) => sql`
        with project as (
          select projects.id from projects join deployments on deployments.project_id = projects.id
          where deployments.id = ${id} and deployments.organization_id = ${organizationId}
          for no key update of projects
        ), removed as (
          delete from deployments using project where deployments.id = ${id} and deployments.project_id = project.id
          returning deployments.id, deployments.project_id
        ), inactive as (
          update projects set active_deployment_id = null, revision = revision + 1
          from removed where projects.id = removed.project_id and projects.active_deployment_id = removed.id
        )
        select pg_notify(${WORK_CHANNEL}, '')::text from removed`,
    );
    return rows.length > 0;
  }

  async #hasProject({ projectId, organizationId }: Deployment): Promise<boolean> {
    const rows = await this.#database.run(
      (sql) => sql`select 1 from projects where id = ${projectId} and organization_id = ${organizationId}`,
    );
    return rows.length > 0;
  }

  async #row(id: string): Promise<Revised | undefined> {
    const [row] = await this.#database.run(
      (sql) => sql<Revised[]>`select ${deploymentColumns(sql)}, revision from deployments where id = ${id}`,
    );
    return row;
  }

  async #write(row: Revised, { deployment, events, environment }: DeploymentChange): Promise<Revised | undefined> {
    const { epoch } = this.#database;
    const chunks = eventChunks(events);
    const sealed = environment && environment.size > 0 ? await this.#seal(row.id, environment) : null;
    const [changed] = await this.#database.run<readonly Revised[]>(
      (sql) => sql<Revised[]>`
        with changed as (
          update deployments
          set status = ${deployment.status}, held = ${deployment.held}, cancel_requested = ${deployment.cancelRequested},
            answer_due = ${answerDue(deployment)}, attempts = ${deployment.attempts},
            queued_at = ${deployment.queuedAt}, record = ${recordText(deployment)}::text::jsonb,
            last_seq = last_seq + ${chunks.count}::bigint, revision = revision + 1
          where id = ${row.id} and revision = ${row.revision}
          returning *
        ), stored as (${insertChunks(sql, "changed", chunks)}
        ), sealed as (
          insert into deployment_environments (deployment_id, sealed_values)
          select id, ${sealed}::text from changed where ${sealed}::text is not null
          on conflict (deployment_id) do update set sealed_values = excluded.sealed_values
        ), emptied as (
          delete from deployment_environments using changed
          where deployment_id = changed.id and ${environment?.size === 0}::boolean
        )
        select ${deploymentColumns(sql)}, revision,
          ${notifications(sql, chunks.count, concernsWorkers(row, deployment))} from changed`,
      { deployments_one_at_a_time: projectBusy },
    );
    if (changed) this.#recent.set(row.id, changed, epoch);
    return changed;
  }

  #seal(id: string, environment: ReadonlyMap<string, Secret>): Promise<string> {
    const entries = Array.from(environment, ([key, value]) => [key, value.reveal()]);
    const place = sealedPlace(SEALED_COLUMNS.deploymentEnvironment, id);
    return this.#vault.seal(new Secret(JSON.stringify(entries)), place);
  }
}

/** The change of an outdated row may be refused where that of the present one is not. */
function attempted<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

/** Notifies followers of new events and workers of changes relevant to them, once the statement is committed. */
function notifications(sql: Sql, events: number, work: boolean) {
  return sql`
    case when ${events}::bigint > 0 then pg_notify(${EVENTS_CHANNEL}, id || ' ' || last_seq)::text end as notified_followers,
    case when ${work}::boolean then pg_notify(${WORK_CHANNEL}, '')::text end as notified_workers`;
}

/** Returns whether a change may leave something for workers to take or to cancel. */
function concernsWorkers(row: DeploymentRow, { status, held, cancelRequested }: Deployment): boolean {
  return row.status !== status || row.held !== held || row.cancel_requested !== cancelRequested;
}

function projectBusy(): never {
  throw conflict("project_busy", "Cannot start this deployment: another one of its project has not finished yet");
}
