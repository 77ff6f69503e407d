import type { DeliveryOutcome, WebhookDecision, WebhookDelivery } from "../../domain/githost/webhook_delivery.ts";
import type { Listing, Page } from "../../domain/page.ts";

/** Stores the webhook deliveries that were accepted, so that each is carried out once and projects can show theirs. */
export interface WebhookDeliveries {
  /**
   * Claims a delivery by its id. Of several callers, one gets "new" and has to finish it; the others get "running", or
   * the outcome once there is one. A claim without an outcome is void after 60 seconds, because its process may have
   * been killed: the next caller gets "new".
   */
  begin(delivery: WebhookDelivery): Promise<"new" | "running" | DeliveryOutcome>;
  /**
   * Stores the outcome of a delivery, its decisions in their order. Changes nothing if it has one, or is unknown.
   * Decisions about a project go when it is deleted; those about one that is gone already are not stored.
   */
  finish(deliveryId: string, outcome: DeliveryOutcome): Promise<void>;
  /**
   * Stores a delivery that needs no work with its outcome, as `begin()` and `finish()` do, but at once. Returns `false`, and
   * changes nothing, if it is known already.
   */
  record(delivery: WebhookDelivery, outcome: DeliveryOutcome): Promise<boolean>;
  /** Returns the decisions about a project, newest delivery first. */
  list(projectId: string, page: Page): Promise<Listing<WebhookDecision>>;
  /** Deletes deliveries received before a time, at most a few thousand per call, and returns how many. */
  sweep(before: Date): Promise<number>;
}
