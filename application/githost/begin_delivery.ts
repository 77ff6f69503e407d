import { Failure } from "../../domain/failure.ts";
import type { DeliveryOutcome, WebhookDelivery } from "../../domain/githost/webhook_delivery.ts";
import type { WebhookDeliveries } from "../../ports/githost/webhook_deliveries.ts";

const LOOK_MS = 50;

/**
 * Claims a delivery, or waits for the outcome of another request with the same one. Throws `delivery_running` if there is
 * none in time: its process may have been killed, so nobody knows yet what it led to.
 */
export async function beginDelivery(
  webhookDeliveries: WebhookDeliveries,
  delivery: WebhookDelivery,
  longestWaitMs: number,
): Promise<"new" | DeliveryOutcome> {
  for (let waitedMs = 0; waitedMs < longestWaitMs; waitedMs += LOOK_MS) {
    const begun = await webhookDeliveries.begin(delivery);
    if (begun !== "running") return begun;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  const sentence = "Cannot answer the delivery yet: it is still being carried out. Deliver it again";
  throw new Failure("unavailable", "delivery_running", sentence, { retryAfter: 5 });
}
