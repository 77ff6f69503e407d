import type { Deployment, DeploymentStatus } from "../../domain/deployments/deployment.ts";
import type { PlacedDeployment } from "../../ports/deployments/deployment_history.ts";
import type { Sql } from "./database.ts";
import { plainJson } from "./plain_json.ts";

/** Fields with their own column, because queries use them. */
const COLUMN_NAMES = [
  "id",
  "organizationId",
  "projectId",
  "version",
  "status",
  "held",
  "cancelRequested",
  "attempts",
  "createdAt",
  "queuedAt",
] as const satisfies readonly (keyof Deployment)[];
const COLUMNS: ReadonlySet<string> = new Set(COLUMN_NAMES);

/** The type of a value after a JSON round trip. */
type Written<T> = T extends Date ? string : T extends object ? { readonly [Key in keyof T]: Written<T[Key]> } : T;

export interface DeploymentRow {
  readonly id: string;
  readonly organization_id: string;
  readonly project_id: string;
  readonly version: number;
  readonly status: DeploymentStatus;
  readonly held: boolean;
  readonly cancel_requested: boolean;
  readonly attempts: number;
  readonly created_at: Date;
  readonly queued_at: Date;
  readonly record: Written<Omit<Deployment, (typeof COLUMN_NAMES)[number]>> & {
    /** The name of `pendingDecision` in records of an earlier version. */
    readonly asked?: Deployment["pendingDecision"];
  };
}

/** The columns of a `DeploymentRow`. */
export function deploymentColumns(sql: Sql) {
  return sql`id, organization_id, project_id, version, status, held, cancel_requested, attempts, created_at, queued_at,
    record`;
}

/** A row with the position of its deployment. */
export type PlacedRow = DeploymentRow & { readonly active: boolean; readonly waiting_for: string | null };

/** The columns of a `PlacedRow`, selected from `deployments`. */
export function placedColumns(sql: Sql) {
  return sql`${deploymentColumns(sql)}, active, ${waitingFor(sql)} as waiting_for`;
}

/** Text that differs whenever a `PlacedRow` does. */
export function placedVersion(sql: Sql) {
  return sql`id || ' ' || xmin || coalesce(${waitingFor(sql)}, '')`;
}

function waitingFor(sql: Sql) {
  return sql`case when status = 'queued' then (
    select busy.id from deployments as busy
    where busy.project_id = deployments.project_id and busy.status in ('building', 'deploying', 'partial_failure')) end`;
}

/** Converts a row to a deployment with its position. */
export function toPlaced(row: PlacedRow): PlacedDeployment {
  return { deployment: toDeployment(row), active: row.active, waitingFor: row.waiting_for };
}

/** Converts a row to a deployment. */
export function toDeployment(row: DeploymentRow): Deployment {
  const { asked = null, prompt, steps, startedAt, builtAt, finishedAt, ...record } = row.record;
  return {
    ...record,
    pendingDecision: record.pendingDecision ?? asked,
    id: row.id,
    organizationId: row.organization_id,
    projectId: row.project_id,
    version: row.version,
    status: row.status,
    held: row.held,
    cancelRequested: row.cancel_requested,
    attempts: row.attempts,
    createdAt: row.created_at,
    queuedAt: row.queued_at,
    prompt: prompt && { ...prompt, expiresAt: new Date(prompt.expiresAt) },
    steps: steps.map((step) => ({ ...step, startedAt: new Date(step.startedAt) })),
    startedAt: time(startedAt),
    builtAt: time(builtAt),
    finishedAt: time(finishedAt),
  };
}

/** Serializes all fields without their own column to JSON. */
export function recordText(deployment: Deployment): string {
  return plainJson(Object.fromEntries(Object.entries(deployment).filter(([name]) => !COLUMNS.has(name))));
}

/** Returns the deadline of the build's open prompt, or `null` without one. */
export function answerDue({ prompt }: Pick<Deployment, "prompt">): Date | null {
  return prompt && prompt.answer === null ? prompt.expiresAt : null;
}

function time(text: string | null): Date | null {
  return text === null ? null : new Date(text);
}
