import type { CertificateOrder } from "../../domain/certificates/certificate_order.ts";
import { retryDelayMs } from "../../domain/certificates/renewal.ts";
import { Failure } from "../../domain/failure.ts";
import { loggedError } from "../../domain/logged_error.ts";
import type { CertificateOrders } from "../../ports/domains/certificate_orders.ts";
import type { Log } from "../../ports/system/log.ts";
import type { HeldOrder } from "./held_order.ts";
import { isHeldUp } from "./renewal_limits.ts";

export interface StoreFailedOrderPorts {
  readonly certificateOrders: CertificateOrders;
  readonly log: Log;
}

/**
 * Stores how an order ended without a certificate, and logs why and until when. What could not be stored is taken again
 * once the lease has expired. An order that a limit of its host name holds up has not failed.
 */
export function storeFailedOrder({ certificateOrders, log }: StoreFailedOrderPorts) {
  return async function ({ order, progress }: HeldOrder, error: unknown, isInterrupted: boolean): Promise<void> {
    const { message, retryAfter, code } = failureOf(error);
    const isFailed = !isInterrupted && !isHeldUp(error);
    const failures = isFailed ? order.attempts + 1 : 1;
    const afterMs = isInterrupted ? 0 : retryDelayMs(failures, { chance: Math.random(), retryAfter });
    if (!isInterrupted) logged(order, error, afterMs);
    try {
      await certificateOrders.retry(order, {
        error: isFailed ? message : null,
        afterMs,
        // What the authority has refused is not continued.
        progress: code === "authority_refused" && !isInterrupted ? null : progress,
      });
    } catch (cause) {
      const { hostname } = order;
      log.write("warn", "The outcome of an order could not be stored", { hostname, ...loggedError(cause) });
    }
  };

  function logged({ attempts, hostname }: CertificateOrder, error: unknown, afterMs: number): void {
    if (isHeldUp(error)) {
      const about = { hostname, until: new Date(Date.now() + afterMs).toISOString(), why: failureOf(error).message };
      log.write("warn", "A certificate is not ordered before the limit of its name allows it", about);
      return;
    }
    const about = { hostname, attempt: attempts + 1, nextInSeconds: Math.round(afterMs / 1_000) };
    log.write("warn", "A certificate was not issued and will be ordered again", { ...about, ...loggedError(error) });
  }
}

function failureOf(error: unknown): Pick<Failure, "message" | "retryAfter" | "code"> {
  if (error instanceof Failure) return error;
  return { message: "Something went wrong: the log of the server says what", retryAfter: undefined, code: "internal" };
}
