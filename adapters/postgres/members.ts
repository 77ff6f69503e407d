import type { Member } from "../../domain/identity/identity.ts";
import type { Listing, Page } from "../../domain/page.ts";
import type { Grant, Role } from "../../domain/identity/permission.ts";
import type { MemberOutcome, Members } from "../../ports/identity/members.ts";
import type { Database } from "./database.ts";
import { jsonValue } from "./json_value.ts";
import { readPage } from "./read_page.ts";
import type { PostgresSignals } from "./signals.ts";

interface MemberRow {
  readonly organization_id: string;
  readonly user_id: string;
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  readonly grants: readonly Grant[];
  readonly created_at: Date;
}

/** A constraint of the database keeps the last owner. */
const LAST_OWNER = { members_last_owner: () => "last_owner" as const };

/** Stores memberships in PostgreSQL. */
export class PostgresMembers implements Members {
  readonly #database: Database;
  readonly #signals: PostgresSignals;

  constructor(database: Database, signals: PostgresSignals) {
    this.#database = database;
    this.#signals = signals;
  }

  async list(organizationId: string, page: Page): Promise<Listing<Member>> {
    return readPage(
      this.#database,
      page,
      (sql) => ({
        columns: sql`m.organization_id, m.user_id, u.email, u.name, m.role, m.grants, m.created_at`,
        from: sql`members m join users u on u.id = m.user_id where m.organization_id = ${organizationId}`,
        order: sql`created_at desc, user_id desc`,
      }),
      toMember,
    );
  }

  async find(organizationId: string, userId: string): Promise<Member | undefined> {
    const [row] = await this.#database.run(
      (sql) => sql<MemberRow[]>`
        select m.organization_id, m.user_id, u.email, u.name, m.role, m.grants, m.created_at
        from members m join users u on u.id = m.user_id
        where m.organization_id = ${organizationId} and m.user_id = ${userId}`,
    );
    return row && toMember(row);
  }

  async change(
    organizationId: string,
    userId: string,
    { role, grants }: { readonly role: Role; readonly grants: readonly Grant[] },
  ): Promise<MemberOutcome> {
    const outcome = await this.#database.run<MemberOutcome>(async (sql) => {
      const { count } = await sql`
        update members set role = ${role}, grants = ${jsonValue(sql, grants)}
        where organization_id = ${organizationId} and user_id = ${userId}`;
      return count === 0 ? "missing" : "done";
    }, LAST_OWNER);
    await this.#signals.settled();
    return outcome;
  }

  async remove(organizationId: string, userId: string): Promise<MemberOutcome> {
    const outcome = await this.#database.run<MemberOutcome>(async (sql) => {
      const [gone] = await sql`
        with gone as (
          delete from members where organization_id = ${organizationId} and user_id = ${userId} returning user_id
        ), revoked as (
          update tokens set revoked_at = now()
          where organization_id = ${organizationId} and user_id in (select user_id from gone) and revoked_at is null
        )
        select user_id from gone`;
      return gone ? "done" : "missing";
    }, LAST_OWNER);
    await this.#signals.settled();
    return outcome;
  }
}

function toMember(row: MemberRow): Member {
  const { organization_id, user_id, email, name, role, grants, created_at } = row;
  return { organizationId: organization_id, userId: user_id, email, name, role, grants, createdAt: created_at };
}
