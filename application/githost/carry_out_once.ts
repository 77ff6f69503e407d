import { Failure } from "../../domain/failure.ts";
import { fullName, type RepositoryName } from "../../domain/githost/repository.ts";
import type { WebhookDeliveries } from "../../ports/githost/webhook_deliveries.ts";
import type { Clock } from "../../ports/system/clock.ts";
import { beginDelivery } from "./begin_delivery.ts";

export interface CarryOutOncePorts {
  readonly clock: Clock;
  readonly webhookDeliveries: WebhookDeliveries;
}

/** Something that the git host may report more than once: by the webhook of the app and by that of the repository. */
export interface HostReport {
  readonly event: string;
  readonly repository: RepositoryName;
  /** The same in every report of it, and different for each project. */
  readonly key: string;
}

/** How long another report of the same is waited for. */
const LONGEST_WAIT_MS = 1_500;

/**
 * Carries out a report of the git host once, and returns what that led to; `undefined` if it was carried out before. What
 * failed for a reason that would come again counts as carried out.
 */
export function carryOutOnce({ clock, webhookDeliveries }: CarryOutOncePorts) {
  return async function <T>({ event, repository, key }: HostReport, work: () => Promise<T>): Promise<T | undefined> {
    const delivery = { deliveryId: key, event, action: null, repository: fullName(repository) };
    const received = { ...delivery, receivedAt: clock.now() };
    if ((await beginDelivery(webhookDeliveries, received, LONGEST_WAIT_MS)) !== "new") return undefined;
    try {
      const result = await work();
      await webhookDeliveries.finish(key, { decisions: [] });
      return result;
    } catch (error) {
      if (isDecision(error)) await webhookDeliveries.finish(key, { decisions: [] });
      throw error;
    }
  };
}

/** Returns whether an error decides about a report, and would come again if it was delivered again. */
export function isDecision(error: unknown): error is Failure {
  return error instanceof Failure && error.kind !== "unavailable";
}
