import { conflict } from "../../domain/failure.ts";
import type { Organization } from "../../domain/identity/identity.ts";
import type { Listing, Page } from "../../domain/page.ts";
import type { Organizations } from "../../ports/identity/organizations.ts";
import type { Database } from "./database.ts";
import { readPage } from "./read_page.ts";
import type { PostgresSignals } from "./signals.ts";

interface OrganizationRow {
  readonly id: string;
  readonly name: string;
  readonly slug: string;
  readonly created_at: Date;
}

/** Stores organizations in PostgreSQL. */
export class PostgresOrganizations implements Organizations {
  readonly #database: Database;
  readonly #signals: PostgresSignals;

  constructor(database: Database, signals: PostgresSignals) {
    this.#database = database;
    this.#signals = signals;
  }

  async create({ id, name, slug, createdAt }: Organization, ownerId: string): Promise<void> {
    await this.#database.run<unknown>(
      (sql) => sql`
        with created as (
          insert into organizations (id, name, slug, created_at) values (${id}, ${name}, ${slug}, ${createdAt})
        )
        insert into members (organization_id, user_id, role, created_at)
        values (${id}, ${ownerId}, 'owner', ${createdAt})`,
      { organizations_slug: slugTaken },
    );
    await this.#signals.settled();
  }

  async areSeveral(): Promise<boolean> {
    const rows = await this.#database.run((sql) => sql`select from organizations limit 2`);
    return rows.length > 1;
  }

  async list(ids: readonly string[], page: Page): Promise<Listing<Organization>> {
    return readPage(
      this.#database,
      page,
      (sql) => ({
        columns: sql`id, name, slug, created_at`,
        from: sql`organizations where id = any (${ids}::text[])`,
        order: sql`created_at desc, id desc`,
      }),
      toOrganization,
    );
  }

  async listOf(userId: string, page: Page): Promise<Listing<Organization>> {
    return readPage(
      this.#database,
      page,
      (sql) => ({
        columns: sql`o.id, o.name, o.slug, o.created_at`,
        from: sql`organizations o join members m on m.organization_id = o.id where m.user_id = ${userId}`,
        order: sql`created_at desc, id desc`,
      }),
      toOrganization,
    );
  }
}

function toOrganization({ id, name, slug, created_at }: OrganizationRow): Organization {
  return { id, name, slug, createdAt: created_at };
}

function slugTaken(): never {
  throw conflict("slug_taken", "Cannot create this organization: its slug is in use; choose another");
}
