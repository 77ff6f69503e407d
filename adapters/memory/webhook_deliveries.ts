import type { DeliveryOutcome, WebhookDecision, WebhookDelivery } from "../../domain/githost/webhook_delivery.ts";
import type { Listing, Page } from "../../domain/page.ts";
import type { WebhookDeliveries } from "../../ports/githost/webhook_deliveries.ts";
import { copied } from "./copied.ts";
import type { MemoryTables } from "./memory_tables.ts";
import { newestFirst } from "./newest_first.ts";

const CLAIM_MS = 60_000;

/** Keeps webhook deliveries in memory. */
export class MemoryWebhookDeliveries implements WebhookDeliveries {
  readonly #tables: MemoryTables;

  constructor(tables: MemoryTables) {
    this.#tables = tables;
  }

  async begin(delivery: WebhookDelivery): Promise<"new" | "running" | DeliveryOutcome> {
    const { webhookDeliveries, clock } = this.#tables;
    const row = webhookDeliveries.get(delivery.deliveryId);
    if (row?.outcome) return copied(row.outcome);
    const claimedAt = clock.now();
    if (row && claimedAt.getTime() - row.claimedAt.getTime() < CLAIM_MS) return "running";
    const first = row?.delivery ?? copied(delivery);
    webhookDeliveries.set(delivery.deliveryId, { delivery: first, claimedAt, outcome: null });
    return "new";
  }

  async finish(deliveryId: string, { decisions }: DeliveryOutcome): Promise<void> {
    const { webhookDeliveries, projects } = this.#tables;
    const row = webhookDeliveries.get(deliveryId);
    if (!row || row.outcome) return;
    const left = decisions.filter(({ projectId }) => projectId === null || projects.has(projectId));
    webhookDeliveries.set(deliveryId, { ...row, outcome: { decisions: copied(left) } });
  }

  async record(delivery: WebhookDelivery, outcome: DeliveryOutcome): Promise<boolean> {
    if (this.#tables.webhookDeliveries.has(delivery.deliveryId)) return false;
    await this.begin(delivery);
    await this.finish(delivery.deliveryId, outcome);
    return true;
  }

  async list(projectId: string, page: Page): Promise<Listing<WebhookDecision>> {
    const rows = [...this.#tables.webhookDeliveries.values()].flatMap(({ delivery, outcome }) =>
      (outcome?.decisions ?? [])
        .map((decision, index) => ({ decision: { ...delivery, ...decision }, index }))
        .filter(({ decision }) => decision.projectId === projectId),
    );
    const { items, total } = newestFirst(rows, page, {
      at: ({ decision }) => decision.receivedAt,
      id: ({ decision, index }) => `${decision.deliveryId} ${String(index).padStart(9, "0")}`,
    });
    return { items: items.map(({ decision }) => decision), total };
  }

  async sweep(before: Date): Promise<number> {
    const { webhookDeliveries } = this.#tables;
    const old = [...webhookDeliveries].filter(([, { delivery }]) => delivery.receivedAt < before);
    for (const [id] of old) webhookDeliveries.delete(id);
    return old.length;
  }
}
