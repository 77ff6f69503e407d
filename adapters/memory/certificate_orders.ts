import type { Certificate } from "../../domain/certificates/certificate.ts";
import type { CertificateOrder, OrderProgress, OrderState } from "../../domain/certificates/certificate_order.ts";
import type { DomainName } from "../../domain/domains/domain_name.ts";
import type {
  CertificateOrders,
  OrderRetry,
  PublishedProof,
  TakeOptions,
} from "../../ports/domains/certificate_orders.ts";
import type { OrderRow } from "./certificate_tables.ts";
import type { MemoryTables } from "./memory_tables.ts";

const NOT_TAKEN = { claim: null, claimedUntil: null } as const;

/** Keeps orders of certificates in memory. */
export class MemoryCertificateOrders implements CertificateOrders {
  readonly #tables: MemoryTables;

  constructor(tables: MemoryTables) {
    this.#tables = tables;
  }

  async take({ leaseMs, domainId }: TakeOptions): Promise<CertificateOrder | undefined> {
    const now = this.#after(0);
    const free = this.#all().filter(({ row }) => row.claimedUntil === null || row.claimedUntil <= now);
    const asked = free.filter(({ domain, row }) =>
      domainId === undefined ? row.dueAt <= now : domain.id === domainId,
    );
    const [first] = asked.toSorted((a, b) => a.row.dueAt.getTime() - b.row.dueAt.getTime());
    if (!first) return undefined;
    const { domain, row } = first;
    const claim = crypto.randomUUID();
    this.#put(domain, { ...row, claim, claimedUntil: this.#after(leaseMs) });
    const { id, hostname, organizationId } = domain;
    return { domainId: id, hostname, organizationId, claim, progress: row.progress, attempts: row.attempts };
  }

  async save(order: CertificateOrder, progress: OrderProgress, leaseMs: number): Promise<boolean> {
    const taken = this.#taken(order);
    if (!taken) return false;
    this.#put(taken.domain, { ...taken.row, progress, claimedUntil: this.#after(leaseMs) });
    return true;
  }

  async complete(order: CertificateOrder, certificate: Certificate, renewAt: Date): Promise<boolean> {
    const taken = this.#taken(order);
    if (!taken) return false;
    const ended = { progress: null, attempts: 0, error: null, dueAt: new Date(renewAt), ...NOT_TAKEN };
    this.#tables.certificates.certificates.set(order.domainId, certificate);
    this.#put(taken.domain, ended);
    this.#tables.certificates.changed(order.hostname);
    return true;
  }

  async retry(order: CertificateOrder, { error, afterMs, progress }: OrderRetry): Promise<void> {
    const taken = this.#taken(order);
    if (!taken) return;
    const failed = error === null ? {} : { error, attempts: taken.row.attempts + 1 };
    this.#put(taken.domain, { ...taken.row, ...failed, progress, dueAt: this.#after(afterMs), ...NOT_TAKEN });
  }

  async find(domainId: string): Promise<OrderState | undefined> {
    const found = this.#all().find(({ domain }) => domain.id === domainId);
    if (!found) return undefined;
    const { attempts, claimedUntil, error } = found.row;
    return { isTaken: claimedUntil !== null && claimedUntil > this.#after(0), attempts, error };
  }

  async proofs(): Promise<readonly PublishedProof[]> {
    const proofs = this.#all().flatMap(({ domain: { hostname }, row }) =>
      row.progress?.proof ? [{ hostname, ...row.progress.proof }] : [],
    );
    return proofs.toSorted((a, b) => (a.hostname < b.hostname ? -1 : 1));
  }

  async nextDueMs(): Promise<number | null> {
    const times = this.#all().map(({ row }) => Math.max(row.dueAt.getTime(), row.claimedUntil?.getTime() ?? 0));
    return times.length === 0 ? null : Math.max(Math.min(...times) - this.#after(0).getTime(), 0);
  }

  onDue(handler: () => void): () => void {
    const { dueHandlers } = this.#tables.certificates;
    const own = () => handler();
    dueHandlers.add(own);
    return () => dueHandlers.delete(own);
  }

  /** The orders of all verified custom domains. */
  #all(): readonly { readonly domain: DomainName; readonly row: OrderRow }[] {
    const { certificates, domains } = this.#tables;
    return [...domains.values()].flatMap((domain) => {
      const { id, type, verifiedAt } = domain;
      if (type !== "custom" || verifiedAt === null) return [];
      const fresh = { progress: null, attempts: 0, error: null, dueAt: this.#after(0), ...NOT_TAKEN };
      return [{ domain, row: certificates.orders.get(id) ?? fresh }];
    });
  }

  #taken({ domainId, claim }: CertificateOrder) {
    return this.#all().find(({ domain, row }) => domain.id === domainId && row.claim === claim);
  }

  #put({ id, hostname }: DomainName, row: OrderRow): void {
    const { certificates } = this.#tables;
    const former = certificates.orders.get(id);
    certificates.orders.set(id, row);
    if (former?.progress?.proof?.token !== row.progress?.proof?.token) certificates.changed(hostname);
    if (former?.claim && row.claim === null) certificates.due();
  }

  #after(ms: number): Date {
    return new Date(this.#tables.clock.now().getTime() + ms);
  }
}
