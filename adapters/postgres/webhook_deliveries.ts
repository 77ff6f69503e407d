import type {
  DeliveryDecision,
  DeliveryOutcome,
  WebhookDecision,
  WebhookDelivery,
} from "../../domain/githost/webhook_delivery.ts";
import type { Listing, Page } from "../../domain/page.ts";
import type { WebhookDeliveries } from "../../ports/githost/webhook_deliveries.ts";
import type { Database } from "./database.ts";
import { milliseconds } from "./milliseconds.ts";
import { plainJson } from "./plain_json.ts";
import { readPage } from "./read_page.ts";
import { Together } from "./together.ts";

interface DecisionRow {
  readonly project_id: string | null;
  readonly organization_id: string;
  readonly decision: DeliveryDecision["decision"];
  readonly reason: string;
  readonly deployment_id: string | null;
  readonly branch: string | null;
  readonly commit_sha: string | null;
}

interface ListedRow extends DecisionRow {
  readonly delivery_id: string;
  readonly event: string;
  readonly action: string | null;
  readonly repository: string | null;
  readonly received_at: Date;
}

/** A delivery that needs no work, with what was decided about it. */
interface Recorded {
  readonly delivery: WebhookDelivery;
  readonly decisions: readonly DeliveryDecision[];
}

const CLAIM_MS = 60_000;

/** Rows that one DELETE removes at most, so that it stays within the statement timeout. */
const BATCH = 5_000;

/** Stores webhook deliveries in PostgreSQL. */
export class PostgresWebhookDeliveries implements WebhookDeliveries {
  readonly #database: Database;
  /** Deliveries about the same projects are recorded together: they would wait for the same locks alone, too. */
  readonly #records = new Together((all: readonly Recorded[]) => this.#record(all));

  constructor(database: Database) {
    this.#database = database;
  }

  async begin(delivery: WebhookDelivery): Promise<"new" | "running" | DeliveryOutcome> {
    for (;;) {
      if (await this.#claim(delivery)) return "new";
      const known = await this.#find(delivery.deliveryId);
      // It was swept between the two statements, so it can be claimed now.
      if (!known) continue;
      return known.finished ? { decisions: known.decisions.map(toDecision) } : "running";
    }
  }

  async finish(deliveryId: string, { decisions }: DeliveryOutcome): Promise<void> {
    const made = plainJson(decisions.map((decision, ordinal) => toRow(deliveryId, decision, ordinal)));
    // The projects are locked, so that none of them is deleted before its decision refers to it.
    await this.#database.run(
      (sql) => sql`
        with made as (
          select * from jsonb_to_recordset(${made}::text::jsonb) as made (
            ordinal integer, project_id text, organization_id text, decision text, reason text, deployment_id text,
            branch text, commit_sha text)
        ), left_projects as (
          select id from projects where id in (select project_id from made) order by id for key share
        ), finished as (
          update webhook_deliveries set finished_at = now() where delivery_id = ${deliveryId} and finished_at is null
          returning delivery_id, received_at
        )
        insert into webhook_decisions (delivery_id, ordinal, project_id, organization_id, decision, reason,
          deployment_id, branch, commit_sha, received_at)
        select delivery_id, ordinal, project_id, organization_id, decision, reason, deployment_id, branch, commit_sha,
          received_at
        from finished cross join made
        where project_id is null or project_id in (select id from left_projects)`,
    );
  }

  async record(delivery: WebhookDelivery, { decisions }: DeliveryOutcome): Promise<boolean> {
    const recorded = { delivery, decisions };
    return (await this.#records.add(projectsOf(decisions), recorded)).has(recorded);
  }

  /** Stores deliveries with their decisions. Returns those that were not known. */
  async #record(all: readonly Recorded[]): Promise<ReadonlySet<Recorded>> {
    const byId = new Map(all.toReversed().map((each) => [each.delivery.deliveryId, each]));
    // In the same order everywhere, so that no two statements wait for each other.
    const given = [...byId.keys()].sort().map((id) => byId.get(id)!);
    const deliveries = given.map(({ delivery }, place) => ({ place, ...toDeliveryRow(delivery) }));
    const made = given.flatMap(({ delivery, decisions }) =>
      decisions.map((decision, ordinal) => toRow(delivery.deliveryId, decision, ordinal)),
    );
    const rows = await this.#database.run(
      (sql) => sql<{ readonly place: number }[]>`
        with given as (
          select * from jsonb_to_recordset(${plainJson(deliveries)}::text::jsonb) as given (
            place integer, delivery_id text, event text, action text, repository text, received_at timestamptz)
        ), made as (
          select * from jsonb_to_recordset(${plainJson(made)}::text::jsonb) as made (
            delivery_id text, ordinal integer, project_id text, organization_id text, decision text, reason text,
            deployment_id text, branch text, commit_sha text)
        ), left_projects as (
          select id from projects where id in (select project_id from made) order by id for key share
        ), recorded as (
          insert into webhook_deliveries (delivery_id, event, action, repository, received_at, claimed_at, finished_at)
          select delivery_id, event, action, repository, received_at, now(), now() from given
          on conflict (delivery_id) do nothing
          returning delivery_id, received_at
        ), decided as (
          insert into webhook_decisions (delivery_id, ordinal, project_id, organization_id, decision, reason,
            deployment_id, branch, commit_sha, received_at)
          select delivery_id, ordinal, project_id, organization_id, decision, reason, deployment_id, branch, commit_sha,
            received_at
          from recorded join made using (delivery_id)
          where project_id is null or project_id in (select id from left_projects)
        )
        select place from recorded join given using (delivery_id)`,
    );
    return new Set(rows.map(({ place }) => given[place]!));
  }

  async list(projectId: string, page: Page): Promise<Listing<WebhookDecision>> {
    return readPage(
      this.#database,
      page,
      (sql) => ({
        columns: sql`c.delivery_id, c.ordinal, d.event, d.action, d.repository, c.received_at, c.project_id,
          c.organization_id, c.decision, c.reason, c.deployment_id, c.branch, c.commit_sha`,
        from: sql`webhook_decisions c join webhook_deliveries d on d.delivery_id = c.delivery_id
          where c.project_id = ${projectId}`,
        order: sql`received_at desc, delivery_id desc, ordinal desc`,
        total: sql`(select count(*) from webhook_decisions where project_id = ${projectId})`,
      }),
      toListed,
    );
  }

  async sweep(before: Date): Promise<number> {
    const { count } = await this.#database.run(
      (sql) => sql`
        delete from webhook_deliveries where delivery_id in (
          select delivery_id from webhook_deliveries where received_at < ${before} order by received_at limit ${BATCH}
        )`,
    );
    return count;
  }

  async #claim({ deliveryId, event, action, repository, receivedAt }: WebhookDelivery): Promise<boolean> {
    const { count } = await this.#database.run(
      (sql) => sql`
        insert into webhook_deliveries as known (delivery_id, event, action, repository, received_at, claimed_at)
        values (${deliveryId}, ${event}, ${action}, ${repository}, ${receivedAt}, now())
        on conflict (delivery_id) do update set claimed_at = excluded.claimed_at
        where known.finished_at is null and known.claimed_at <= now() - ${milliseconds(sql, CLAIM_MS)}`,
    );
    return count > 0;
  }

  async #find(
    deliveryId: string,
  ): Promise<{ readonly finished: boolean; readonly decisions: readonly DecisionRow[] } | undefined> {
    const [row] = await this.#database.run(
      (sql) => sql<{ finished: boolean; decisions: readonly DecisionRow[] }[]>`
        select finished_at is not null as finished,
          (select coalesce(jsonb_agg(to_jsonb(c) order by c.ordinal), '[]') from webhook_decisions c
            where c.delivery_id = d.delivery_id) as decisions
        from webhook_deliveries d where delivery_id = ${deliveryId}`,
    );
    return row;
  }
}

function projectsOf(decisions: readonly DeliveryDecision[]): string {
  return JSON.stringify(decisions.map(({ projectId, organizationId }) => [projectId, organizationId]));
}

function toDeliveryRow({ deliveryId, event, action, repository, receivedAt }: WebhookDelivery) {
  return { delivery_id: deliveryId, event, action, repository, received_at: receivedAt.toISOString() };
}

function toRow(
  deliveryId: string,
  { projectId, organizationId, decision, reason, deploymentId, branch, commitSha }: DeliveryDecision,
  ordinal: number,
) {
  return {
    delivery_id: deliveryId,
    ordinal,
    project_id: projectId,
    organization_id: organizationId,
    decision,
    reason,
    deployment_id: deploymentId,
    branch,
    commit_sha: commitSha,
  };
}

function toDecision(row: DecisionRow): DeliveryDecision {
  return {
    projectId: row.project_id,
    organizationId: row.organization_id,
    decision: row.decision,
    reason: row.reason,
    deploymentId: row.deployment_id,
    branch: row.branch,
    commitSha: row.commit_sha,
  };
}

function toListed(row: ListedRow): WebhookDecision {
  const { delivery_id, event, action, repository, received_at } = row;
  return { deliveryId: delivery_id, event, action, repository, receivedAt: received_at, ...toDecision(row) };
}
