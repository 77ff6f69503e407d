import type { ConnectAttempts } from "../../ports/githost/connect_attempts.ts";
import type { WebhookDeliveries } from "../../ports/githost/webhook_deliveries.ts";
import type { Clock } from "../../ports/system/clock.ts";

const HOUR_MS = 3_600_000;
const DELIVERY_DAYS = 30;

export interface SweepGitHostPorts {
  readonly clock: Clock;
  readonly connectAttempts: ConnectAttempts;
  readonly webhookDeliveries: WebhookDeliveries;
}

/**
 * Removes attempts to connect the git host an hour after they expire, so that their status can be read until then, and
 * webhook deliveries after 30 days.
 */
export function sweepGitHost({ clock, connectAttempts, webhookDeliveries }: SweepGitHostPorts) {
  return async function (): Promise<void> {
    const now = clock.now().getTime();
    await connectAttempts.sweep(new Date(now - HOUR_MS));
    const oldest = new Date(now - DELIVERY_DAYS * 24 * HOUR_MS);
    while ((await webhookDeliveries.sweep(oldest)) > 0);
  };
}
