import type { Certificate } from "../../domain/certificates/certificate.ts";
import type { CertificateOrder, OrderProgress } from "../../domain/certificates/certificate_order.ts";

/** Which orders to take. */
export interface TakeOptions {
  readonly at: Date;
  /** How long the order is reserved for this process, unless it is renewed or ended before. */
  readonly leaseMs: number;
  /** Only this host name, whether it is due or not. Absent: the one that is due longest. */
  readonly hostname?: string;
}

/**
 * The orders of certificates: one per verified custom host name, kept from before the first contact with the authority
 * until the certificate is stored, so that a killed process's order is completed and not repeated. Only the process that
 * has taken an order works on it.
 */
export interface CertificateOrders {
  /**
   * Takes an order: of a verified custom host name that has no certificate, or whose certificate or last failure is due
   * by `at`. Returns `undefined` when there is none, or when another process has taken it.
   */
  take(options: TakeOptions): Promise<CertificateOrder | undefined>;
  /** Stores how far an order is, and extends the reservation. Returns `false` when another process has taken it. */
  save(order: CertificateOrder, progress: OrderProgress, leaseMs: number): Promise<boolean>;
  /**
   * Ends an order with its certificate, which replaces the former one; the next order is due at `renewAt`. Returns
   * `false`, and stores nothing, when another process has taken it or the host name is gone.
   */
  complete(order: CertificateOrder, certificate: Certificate, renewAt: Date): Promise<boolean>;
  /** Ends an order with a failure; the next attempt is due at `retryAt`, with a new order unless `progress` is kept. */
  fail(
    order: CertificateOrder,
    failure: { readonly error: string; readonly retryAt: Date; readonly progress: OrderProgress | null },
  ): Promise<void>;
  /** Lists the proofs of all orders under way, for edges. */
  proofs(): Promise<readonly CertificateOrder[]>;
  /** When the next order is due; `null` when none is expected. */
  nextAt(): Promise<Date | null>;
}
