import type { CertificateOrder } from "../../domain/certificates/certificate_order.ts";
import { pauseAfterMs } from "../../domain/certificates/renewal.ts";
import { Failure } from "../../domain/failure.ts";
import { loggedError } from "../../domain/logged_error.ts";
import { carryOutOrder, type CarryOutOrderPorts } from "./carry_out_order.ts";
import { ORDER_LEASE_MS } from "./held_order.ts";
import { renewalLimits } from "./renewal_limits.ts";

/** How many orders a process carries out at once, so that 100 names that are due at a start make no storm. */
const AT_ONCE = 3;
const LEAST_PAUSE_MS = 250;
/** Timers cannot wait for weeks, and the clock of the database may be changed. */
const MOST_PAUSE_MS = 3_600_000;
const RETRY_MS = 2_000;
/** How long no other order is begun, at least, after the authority did not answer or has limited this installation. */
const AWAY_MS = 30_000;

export interface WatchOptions {
  /**
   * How long no other order is begun, at least, after the authority did not answer or has limited this installation, in
   * milliseconds. Defaults to 30 s.
   */
  readonly awayMs?: number;
}

/** Orders and renews what is due for as long as the server runs. Sleeps meanwhile, without a statement. */
export function watchCertificateOrders(ports: CarryOutOrderPorts, { awayMs = AWAY_MS }: WatchOptions = {}) {
  const { certificateOrders, log } = ports;
  const carryOut = carryOutOrder(ports);
  /** Runs until the signal aborts, and then until the orders under way are interrupted. Never rejects. */
  return async function (signal: AbortSignal): Promise<void> {
    const running = new Set<Promise<void>>();
    let awayUntil = 0;
    let woken = Promise.withResolvers<void>();
    const wake = () => woken.resolve();
    const forget = certificateOrders.onDue(wake);
    signal.addEventListener("abort", wake, { once: true });
    while (!signal.aborted) {
      // Renewed before the orders are read, so that no wake-up is missed.
      woken = Promise.withResolvers();
      const nextMs = await begin().catch(later);
      if (signal.aborted) break;
      const pauseMs = Math.min(Math.max(nextMs ?? 0, LEAST_PAUSE_MS), MOST_PAUSE_MS);
      const timer = nextMs === null ? undefined : setTimeout(wake, pauseMs);
      await woken.promise;
      clearTimeout(timer);
    }
    forget();
    await Promise.all(running);

    /**
     * Begins what is due. Returns the milliseconds until more is; `null` if nothing is expected, or nothing more can begin
     * before another order has ended.
     */
    async function begin(): Promise<number | null> {
      while (running.size < AT_ONCE) {
        const awayForMs = awayUntil - performance.now();
        if (awayForMs > 0) return awayForMs;
        const order = signal.aborted ? undefined : await certificateOrders.take({ leaseMs: ORDER_LEASE_MS });
        if (!order) return certificateOrders.nextDueMs();
        const work = attempt(order).then(() => {
          running.delete(work);
          wake();
        });
        running.add(work);
      }
      return null;
    }

    async function attempt(order: CertificateOrder): Promise<void> {
      try {
        await carryOut(order, signal);
      } catch (error) {
        // It is stored and logged.
        if (!(error instanceof Failure)) return;
        if (error.code === "authority_refused" && order.attempts === 0) await noteRefused(ports, order);
        awayUntil = Math.max(awayUntil, performance.now() + pauseAfter(error));
      }
    }
  };

  /** Returns how long no other order is begun. */
  function pauseAfter(failure: Failure): number {
    const forMs = pauseAfterMs(failure, awayMs);
    const until = new Date(Date.now() + forMs).toISOString();
    if (failure.code === "authority_limited")
      log.write("warn", "No certificate is ordered before the limit of the authority allows it", { until });
    return forMs;
  }

  function later(error: unknown): number {
    log.write("warn", "The orders of certificates could not be read and will be later", { ...loggedError(error) });
    return RETRY_MS;
  }
}

/** Counts a refused first attempt by its host name, because the pauses of its order end with the domain. */
async function noteRefused(ports: CarryOutOrderPorts, { hostname }: CertificateOrder): Promise<void> {
  try {
    await renewalLimits(ports).noteRefused(hostname);
  } catch (error) {
    ports.log.write("warn", "A refused order could not be counted", { hostname, ...loggedError(error) });
  }
}
