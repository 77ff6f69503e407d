import type { Certificate } from "../../domain/certificates/certificate.ts";
import type { CertificateOrder, OrderProgress, OrderState } from "../../domain/certificates/certificate_order.ts";
import type {
  CertificateOrders,
  OrderRetry,
  PublishedProof,
  TakeOptions,
} from "../../ports/domains/certificate_orders.ts";
import type { Vault } from "../../ports/system/vault.ts";
import type { Database, Sql } from "./database.ts";
import { milliseconds } from "./milliseconds.ts";
import { SEALED_COLUMNS, sealedPlace } from "./sealed_columns.ts";
import type { PostgresSignals } from "./signals.ts";

/** The NOTIFY channel on which triggers announce that an order may be due. */
const ORDERS_CHANNEL = "slipway_certificate_orders";

interface OrderRow {
  readonly domain_id: string;
  readonly hostname: string;
  readonly organization_id: string;
  readonly claim: string;
  readonly sealed_key: string | null;
  readonly url: string | null;
  readonly token: string | null;
  readonly proof: string | null;
  readonly attempts: number;
}

/** The columns that say how far an order is. */
type ProgressColumns = Pick<OrderRow, "sealed_key" | "url" | "token" | "proof">;

const NO_PROGRESS: ProgressColumns = { sealed_key: null, url: null, token: null, proof: null };

/** Stores orders of certificates in PostgreSQL, their keys encrypted. A trigger on domains creates them. */
export class PostgresCertificateOrders implements CertificateOrders {
  readonly #database: Database;
  readonly #signals: PostgresSignals;
  readonly #vault: Vault;

  constructor(database: Database, signals: PostgresSignals, vault: Vault) {
    this.#database = database;
    this.#signals = signals;
    this.#vault = vault;
    // Listens from the start, so that no notification is missed between the first handler and its LISTEN.
    signals.subscribe(ORDERS_CHANNEL, () => {});
  }

  async take({ leaseMs, domainId }: TakeOptions): Promise<CertificateOrder | undefined> {
    const [row] = await this.#database.run(
      (sql) => sql<OrderRow[]>`
        with due as (
          select domain_id from certificate_orders
          where (claimed_until is null or claimed_until <= now())
            and ${domainId === undefined ? sql`due_at <= now()` : sql`domain_id = ${domainId}`}
          order by due_at limit 1 for update skip locked
        )
        update certificate_orders as taken
        set claim = ${crypto.randomUUID()}, claimed_until = now() + ${milliseconds(sql, leaseMs)}
        from due join domains on domains.id = due.domain_id where taken.domain_id = due.domain_id
        returning taken.domain_id, hostname, organization_id, claim, sealed_key, url, token, taken.proof, attempts`,
    );
    return row && this.#toOrder(row);
  }

  async save(order: CertificateOrder, progress: OrderProgress, leaseMs: number): Promise<boolean> {
    const columns = await this.#columns(order, progress);
    const { count } = await this.#database.run(
      (sql) => sql`
        update certificate_orders set ${sql(columns)}, claimed_until = now() + ${milliseconds(sql, leaseMs)}
        where ${isTaken(sql, order)}`,
    );
    return count > 0;
  }

  async complete(order: CertificateOrder, certificate: Certificate, renewAt: Date): Promise<boolean> {
    const { chain, issuer, notBefore, notAfter, fingerprint256 } = certificate;
    const sealed = await this.#vault.seal(certificate.key, sealedPlace(SEALED_COLUMNS.certificateKey, order.domainId));
    const { count } = await this.#database.run(
      (sql) => sql`
        with ended as (
          update certificate_orders
          set ${sql(NO_PROGRESS)}, attempts = 0, error = null, due_at = ${renewAt}, claim = null, claimed_until = null
          where ${isTaken(sql, order)} returning domain_id
        )
        insert into certificates (domain_id, chain, sealed_key, issuer, not_before, not_after, fingerprint256)
        select domain_id, ${chain}, ${sealed}, ${issuer}, ${notBefore}::timestamptz, ${notAfter}::timestamptz,
          ${fingerprint256}
        from ended
        on conflict (domain_id) do update set
          chain = excluded.chain, sealed_key = excluded.sealed_key, issuer = excluded.issuer,
          not_before = excluded.not_before, not_after = excluded.not_after, fingerprint256 = excluded.fingerprint256`,
    );
    return count > 0;
  }

  async retry(order: CertificateOrder, { error, afterMs, progress }: OrderRetry): Promise<void> {
    const columns = progress ? await this.#columns(order, progress) : NO_PROGRESS;
    await this.#database.run(
      (sql) => sql`
        update certificate_orders
        set ${sql(columns)}, ${error === null ? sql`` : sql`error = ${error}, attempts = attempts + 1,`}
          due_at = now() + ${milliseconds(sql, afterMs)}, claim = null, claimed_until = null
        where ${isTaken(sql, order)}`,
    );
  }

  async find(domainId: string): Promise<OrderState | undefined> {
    const [row] = await this.#database.run(
      (sql) => sql<OrderState[]>`
        select coalesce(claimed_until > now(), false) as "isTaken", attempts, error
        from certificate_orders where domain_id = ${domainId}`,
    );
    return row && { isTaken: row.isTaken, attempts: row.attempts, error: row.error };
  }

  async proofs(): Promise<readonly PublishedProof[]> {
    const rows = await this.#database.run(
      (sql) => sql<PublishedProof[]>`
        select hostname, token, certificate_orders.proof as text
        from certificate_orders join domains on domains.id = domain_id
        where token is not null order by hostname`,
    );
    return rows.map(({ hostname, token, text }) => ({ hostname, token, text }));
  }

  async nextDueMs(): Promise<number | null> {
    const [row] = await this.#database.run(
      (sql) => sql<{ ms: number | null }[]>`
        select greatest(extract(epoch from min(greatest(due_at, claimed_until)) - now()) * 1000, 0)::double precision as ms
        from certificate_orders having count(*) > 0`,
    );
    return row?.ms ?? null;
  }

  onDue(handler: () => void): () => void {
    const stops = [this.#signals.subscribe(ORDERS_CHANNEL, () => handler()), this.#signals.onReset(() => handler())];
    return () => stops.forEach((stop) => stop());
  }

  async #toOrder(row: OrderRow): Promise<CertificateOrder> {
    const { domain_id: domainId, hostname, organization_id: organizationId, claim, attempts, url, token, proof } = row;
    const place = sealedPlace(SEALED_COLUMNS.certificateOrderKey, domainId);
    const progress = row.sealed_key !== null && {
      key: await this.#vault.open(row.sealed_key, place),
      url,
      proof: token !== null && proof !== null ? { token, text: proof } : null,
    };
    return { domainId, hostname, organizationId, claim, attempts, progress: progress || null };
  }

  async #columns({ domainId }: CertificateOrder, { key, url, proof }: OrderProgress): Promise<ProgressColumns> {
    const sealed_key = await this.#vault.seal(key, sealedPlace(SEALED_COLUMNS.certificateOrderKey, domainId));
    return { sealed_key, url, token: proof?.token ?? null, proof: proof?.text ?? null };
  }
}

/** Returns the SQL condition that a row is the taken order, and that no other process has taken it since. */
function isTaken(sql: Sql, { domainId, claim }: CertificateOrder) {
  return sql`domain_id = ${domainId} and claim = ${claim}`;
}
