import type { Certificate } from "../../domain/certificates/certificate.ts";
import type {
  CertificateOrder,
  ChallengeProof,
  OrderProgress,
  OrderState,
} from "../../domain/certificates/certificate_order.ts";

/** Which order to take. */
export interface TakeOptions {
  /** How long the order is reserved for this process, unless that is extended or ended before. */
  readonly leaseMs: number;
  /** Only the order of this domain, whether it is due or not. Absent: the one that is due longest. */
  readonly domainId?: string;
}

/** How an order ended without a certificate. */
export interface OrderRetry {
  /** The words of the failure, which counts as one more attempt; `null` if the order was only interrupted. */
  readonly error: string | null;
  /** When the order is due again, in milliseconds from now. */
  readonly afterMs: number;
  /** How far the order stays; `null` begins it anew. */
  readonly progress: OrderProgress | null;
}

/** A host name and what proves control of it. */
export interface PublishedProof extends ChallengeProof {
  readonly hostname: string;
}

/**
 * The orders of certificates: one per verified custom host name, due from its verification on, and again when the
 * certificate has to be renewed. An order is kept from before the first contact with the authority until the certificate
 * is stored, so that a killed process's order is completed and not repeated. Only the process that has taken an order
 * works on it; times run by the store's clock.
 */
export interface CertificateOrders {
  /** Takes an order. Returns `undefined` when none is due, or when another process has taken it. */
  take(options: TakeOptions): Promise<CertificateOrder | undefined>;
  /** Stores how far an order is, and extends the reservation. Returns `false` when another process has taken it. */
  save(order: CertificateOrder, progress: OrderProgress, leaseMs: number): Promise<boolean>;
  /**
   * Ends an order with its certificate, which replaces the former one; the next order is due at `renewAt`. Returns
   * `false`, and stores nothing, when another process has taken it or the host name is gone.
   */
  complete(order: CertificateOrder, certificate: Certificate, renewAt: Date): Promise<boolean>;
  /** Ends an order without a certificate. Changes nothing when another process has taken it. */
  retry(order: CertificateOrder, outcome: OrderRetry): Promise<void>;
  /** Returns how the order of a domain stands; `undefined` if it gets no certificate. */
  find(domainId: string): Promise<OrderState | undefined>;
  /** Lists the proofs of all orders under way, for edges. */
  proofs(): Promise<readonly PublishedProof[]>;
  /** Returns the milliseconds until an order can be taken; `null` when none is expected. */
  nextDueMs(): Promise<number | null>;
  /** Calls the handler when an order may be due earlier than known. Returns a function that unsubscribes. */
  onDue(handler: () => void): () => void;
}
