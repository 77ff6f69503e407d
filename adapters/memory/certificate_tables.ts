import type { Certificate } from "../../domain/certificates/certificate.ts";
import type { OrderProgress } from "../../domain/certificates/certificate_order.ts";
import type { DomainName } from "../../domain/domains/domain_name.ts";
import type { Secret } from "../../domain/secret.ts";

/** An order of a certificate as stored. */
export interface OrderRow {
  readonly progress: OrderProgress | null;
  readonly attempts: number;
  readonly error: string | null;
  readonly dueAt: Date;
  readonly claim: string | null;
  readonly claimedUntil: Date | null;
}

/** The data of certificates that memory adapters share. */
export class CertificateTables {
  /** By domain. */
  readonly certificates = new Map<string, Certificate>();
  /** By domain. A verified domain without one has an order that is due. */
  readonly orders = new Map<string, OrderRow>();
  /** The keys of accounts, by directory. */
  readonly accountKeys = new Map<string, Secret>();
  /** Called when a certificate or proof may have changed. */
  readonly changeHandlers = new Set<(hostname: string | null) => unknown>();
  /** Pending promises of these handlers. */
  readonly work = new Set<Promise<unknown>>();
  /** Called when an order may be due. */
  readonly dueHandlers = new Set<() => void>();

  /** Tells all processes that the certificate or the proof of a host name may have changed. */
  changed(hostname: string): void {
    for (const handler of this.changeHandlers) {
      const work = Promise.resolve(handler(hostname)).catch(() => {});
      this.work.add(work);
      void work.finally(() => this.work.delete(work));
    }
  }

  /** Tells all processes that an order may be due. */
  due(): void {
    for (const handler of this.dueHandlers) queueMicrotask(handler);
  }

  /** Removes what belongs to a domain. */
  removeDomain({ id, hostname, type }: DomainName): void {
    this.certificates.delete(id);
    this.orders.delete(id);
    if (type === "custom") this.changed(hostname);
  }
}
