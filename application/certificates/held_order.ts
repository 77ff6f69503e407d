import type { CertificateOrder, OrderProgress } from "../../domain/certificates/certificate_order.ts";
import { conflict, type Failure } from "../../domain/failure.ts";
import type { CertificateOrders } from "../../ports/domains/certificate_orders.ts";

/** How long an order stays reserved for a process that was killed. */
export const ORDER_LEASE_MS = 10_000;
const EXTEND_MS = 2_500;

/** An order that this process has taken. Extends the reservation until it is disposed. */
export class HeldOrder implements Disposable {
  readonly order: CertificateOrder;
  readonly #orders: CertificateOrders;
  readonly #lost = new AbortController();
  readonly #timer: ReturnType<typeof setInterval>;
  #progress: OrderProgress | null;

  constructor(orders: CertificateOrders, order: CertificateOrder) {
    this.order = order;
    this.#orders = orders;
    this.#progress = order.progress;
    // An extension that fails is repeated; if none succeeds, another process takes the order.
    this.#timer = setInterval(() => void this.#extend().catch(() => {}), EXTEND_MS);
  }

  /** Aborted once another process has taken the order, or its host name is gone. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** How far the order is. */
  get progress(): OrderProgress | null {
    return this.#progress;
  }

  /** Stores how far the order is. Rejects once it is lost. */
  async keep(progress: OrderProgress): Promise<void> {
    this.#progress = progress;
    await this.#extend();
    this.lost.throwIfAborted();
  }

  async #extend(): Promise<void> {
    if (this.#progress === null) return;
    const isHeld = await this.#orders.save(this.order, this.#progress, ORDER_LEASE_MS);
    if (!isHeld) this.#lost.abort(orderLost());
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

/** The failure of an order that another process has taken, or whose host name is gone. */
export function orderLost(): Failure {
  return conflict("order_lost", "Cannot go on with this order: another server has taken it, or the domain was removed");
}

/** Returns whether an error only means that another process has taken the order. */
export function isOrderLost(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "order_lost";
}
