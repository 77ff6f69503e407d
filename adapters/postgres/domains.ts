import { type DomainName, HOSTNAME_TAKEN } from "../../domain/domains/domain_name.ts";
import { conflict } from "../../domain/failure.ts";
import type { Listing, Page } from "../../domain/page.ts";
import type { DomainFilter, Domains } from "../../ports/domains/domains.ts";
import type { Database, Sql } from "./database.ts";
import { readPage } from "./read_page.ts";

interface DomainRow {
  readonly id: string;
  readonly organization_id: string;
  readonly project_id: string;
  readonly hostname: string;
  readonly type: DomainName["type"];
  readonly proof: string;
  readonly verified_at: Date | null;
  readonly created_at: Date;
}

/** Stores domains (host names) in PostgreSQL. */
export class PostgresDomains implements Domains {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async list(organizationId: string, filter: DomainFilter, page: Page): Promise<Listing<DomainName>> {
    const { projectIds, hostnames } = filter;
    return readPage(
      this.#database,
      page,
      (sql) => ({
        columns: columns(sql),
        from: sql`domains where organization_id = ${organizationId}
          ${projectIds ? sql`and project_id = any (${projectIds}::text[])` : sql``}
          ${hostnames ? sql`and hostname = any (${hostnames}::text[])` : sql``}`,
        order: sql`created_at desc, id desc`,
      }),
      toDomain,
    );
  }

  async ofProjects(projectIds: readonly string[]): Promise<readonly DomainName[]> {
    const rows = await this.#database.run(
      (sql) => sql<DomainRow[]>`
        select ${columns(sql)} from domains where project_id = any (${[...projectIds]}::text[])
        order by created_at desc, id desc`,
    );
    return rows.map(toDomain);
  }

  async unverified(hostname?: string): Promise<readonly DomainName[]> {
    const rows = await this.#database.run(
      (sql) => sql<DomainRow[]>`
        select ${columns(sql)} from domains where type = 'custom' and verified_at is null
        ${hostname === undefined ? sql`` : sql`and hostname = ${hostname}`} order by hostname, id`,
    );
    return rows.map(toDomain);
  }

  async find(organizationId: string, id: string): Promise<DomainName | undefined> {
    const [row] = await this.#database.run(
      (sql) => sql<DomainRow[]>`
        select ${columns(sql)} from domains where id = ${id} and organization_id = ${organizationId}`,
    );
    return row && toDomain(row);
  }

  async claim(domain: DomainName): Promise<boolean> {
    const { id, organizationId, projectId, hostname, type, proof, verifiedAt, createdAt } = domain;
    const { count } = await this.#database.run(
      (sql) => sql`
        insert into domains (id, organization_id, project_id, hostname, type, proof, verified_at, created_at)
        select ${id}, ${organizationId}, ${projectId}, ${hostname}, ${type}, ${proof}, ${verifiedAt}::timestamptz,
          ${createdAt}::timestamptz
        where not exists (select 1 from domains where hostname = ${hostname} and verified_at is not null)
        on conflict do nothing`,
    );
    return count > 0;
  }

  async verified(organizationId: string, id: string, at: Date): Promise<DomainName | undefined> {
    const [row] = await this.#database.run<readonly DomainRow[]>(
      (sql) => sql<DomainRow[]>`
        update domains set verified_at = ${at} where id = ${id} and organization_id = ${organizationId}
        returning ${columns(sql)}`,
      { domains_hostname: hostnameTaken },
    );
    return row && toDomain(row);
  }

  async remove(organizationId: string, id: string): Promise<boolean> {
    const { count } = await this.#database.run(
      (sql) => sql`delete from domains where id = ${id} and organization_id = ${organizationId}`,
    );
    return count > 0;
  }
}

function hostnameTaken(): never {
  throw conflict("hostname_taken", HOSTNAME_TAKEN);
}

function columns(sql: Sql) {
  return sql`id, organization_id, project_id, hostname, type, proof, verified_at, created_at`;
}

function toDomain(row: DomainRow): DomainName {
  const { id, organization_id, project_id, hostname, type, proof, verified_at, created_at } = row;
  return {
    id,
    organizationId: organization_id,
    projectId: project_id,
    hostname,
    type,
    proof,
    verifiedAt: verified_at,
    createdAt: created_at,
  };
}
