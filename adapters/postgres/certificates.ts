import type { Certificate } from "../../domain/certificates/certificate.ts";
import type { Certificates } from "../../ports/domains/certificates.ts";
import type { Vault } from "../../ports/system/vault.ts";
import type { Database, Sql } from "./database.ts";
import { SEALED_COLUMNS, sealedPlace } from "./sealed_columns.ts";
import type { PostgresSignals } from "./signals.ts";

/** The NOTIFY channel on which triggers announce certificates and proofs that have changed. */
const CERTIFICATES_CHANNEL = "slipway_certificates";

interface CertificateRow {
  readonly domain_id: string;
  readonly hostname: string;
  readonly chain: string;
  readonly sealed_key: string;
  readonly issuer: string;
  readonly not_before: Date;
  readonly not_after: Date;
  readonly fingerprint256: string;
}

/** Reads certificates from PostgreSQL, where their keys are encrypted. */
export class PostgresCertificates implements Certificates {
  readonly #database: Database;
  readonly #signals: PostgresSignals;
  readonly #vault: Vault;

  constructor(database: Database, signals: PostgresSignals, vault: Vault) {
    this.#database = database;
    this.#signals = signals;
    this.#vault = vault;
    // Listens from the start, so that no notification is missed between the first handler and its LISTEN.
    signals.subscribe(CERTIFICATES_CHANNEL, () => {});
  }

  async list(): Promise<readonly Certificate[]> {
    const rows = await this.#database.run((sql) => sql<CertificateRow[]>`${certificateRows(sql)} order by hostname`);
    return Promise.all(rows.map((row) => this.#toCertificate(row)));
  }

  async find(hostname: string): Promise<Certificate | undefined> {
    const [row] = await this.#database.run(
      (sql) => sql<CertificateRow[]>`${certificateRows(sql)} where hostname = ${hostname}`,
    );
    return row && this.#toCertificate(row);
  }

  onChange(handler: (hostname: string | null) => unknown): () => void {
    const stops = [this.#signals.subscribe(CERTIFICATES_CHANNEL, handler), this.#signals.onReset(() => handler(null))];
    return () => stops.forEach((stop) => stop());
  }

  followed(limitMs: number): Promise<boolean> {
    return this.#signals.handled(limitMs);
  }

  async #toCertificate(row: CertificateRow): Promise<Certificate> {
    const { hostname, chain, issuer, fingerprint256 } = row;
    const key = await this.#vault.open(row.sealed_key, sealedPlace(SEALED_COLUMNS.certificateKey, row.domain_id));
    return { hostname, chain, key, issuer, notBefore: row.not_before, notAfter: row.not_after, fingerprint256 };
  }
}

function certificateRows(sql: Sql) {
  return sql`
    select domain_id, hostname, chain, sealed_key, issuer, not_before, not_after, fingerprint256
    from certificates join domains on domains.id = domain_id`;
}
