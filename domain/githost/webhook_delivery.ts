/** What a webhook delivery led to. */
export const DELIVERY_DECISIONS = ["deployed", "ignored", "superseded", "applied", "failed"] as const;

export type DeliveryDecisionKind = (typeof DELIVERY_DECISIONS)[number];

/** A webhook delivery that was accepted. */
export interface WebhookDelivery {
  readonly deliveryId: string;
  readonly event: string;
  readonly action: string | null;
  /** The full name of the repository. */
  readonly repository: string | null;
  readonly receivedAt: Date;
}

/** What was decided about a delivery, for one project or for a whole organization. */
export interface DeliveryDecision {
  readonly projectId: string | null;
  readonly organizationId: string;
  readonly decision: DeliveryDecisionKind;
  readonly reason: string;
  readonly deploymentId: string | null;
  readonly branch: string | null;
  readonly commitSha: string | null;
}

/** Everything that was decided about a delivery. */
export interface DeliveryOutcome {
  readonly decisions: readonly DeliveryDecision[];
}

/** A decision with the delivery that it is about. */
export interface WebhookDecision extends WebhookDelivery, DeliveryDecision {}
