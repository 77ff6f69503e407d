import { conflict } from "../../domain/failure.ts";
import type { Invitation } from "../../domain/identity/identity.ts";
import type { Listing, Page } from "../../domain/page.ts";
import type { Grant, Role } from "../../domain/identity/permission.ts";
import type { Invitations, InvitationTaker } from "../../ports/identity/invitations.ts";
import type { Database } from "./database.ts";
import { jsonValue } from "./json_value.ts";
import { readPage } from "./read_page.ts";
import type { PostgresSignals } from "./signals.ts";

interface InvitationRow {
  readonly id: string;
  readonly organization_id: string;
  readonly email: string;
  readonly role: Role;
  readonly grants: readonly Grant[];
  readonly invited_by: string;
  readonly created_at: Date;
  readonly expires_at: Date;
}

/** Stores pending invitations in PostgreSQL. An accepted or withdrawn invitation is deleted. */
export class PostgresInvitations implements Invitations {
  readonly #database: Database;
  readonly #signals: PostgresSignals;

  constructor(database: Database, signals: PostgresSignals) {
    this.#database = database;
    this.#signals = signals;
  }

  async create(invitation: Invitation, tokenFingerprint: string): Promise<void> {
    const { id, organizationId, email, role, grants, invitedBy, createdAt, expiresAt } = invitation;
    await this.#database.run(
      (sql) => sql`
        insert into invitations
          (id, organization_id, email, role, grants, invited_by, fingerprint, created_at, expires_at)
        values (${id}, ${organizationId}, ${email}, ${role}, ${jsonValue(sql, grants)}, ${invitedBy},
          ${tokenFingerprint}, ${createdAt}, ${expiresAt})
        on conflict (organization_id, email) do update
        set id = excluded.id, role = excluded.role, grants = excluded.grants, invited_by = excluded.invited_by,
          fingerprint = excluded.fingerprint, created_at = excluded.created_at, expires_at = excluded.expires_at`,
    );
  }

  async findByToken(tokenFingerprint: string): Promise<Invitation | undefined> {
    const [row] = await this.#database.run(
      (sql) => sql<InvitationRow[]>`
        select id, organization_id, email, role, grants, invited_by, created_at, expires_at
        from invitations where fingerprint = ${tokenFingerprint}`,
    );
    return row && toInvitation(row);
  }

  async find(organizationId: string, id: string): Promise<Invitation | undefined> {
    const [row] = await this.#database.run(
      (sql) => sql<InvitationRow[]>`
        select id, organization_id, email, role, grants, invited_by, created_at, expires_at
        from invitations where organization_id = ${organizationId} and id = ${id}`,
    );
    return row && toInvitation(row);
  }

  async findByEmail(organizationId: string, email: string): Promise<Invitation | undefined> {
    const [row] = await this.#database.run(
      (sql) => sql<InvitationRow[]>`
        select id, organization_id, email, role, grants, invited_by, created_at, expires_at
        from invitations where organization_id = ${organizationId} and email = ${email}`,
    );
    return row && toInvitation(row);
  }

  async list(organizationId: string, at: Date, page: Page): Promise<Listing<Invitation>> {
    return readPage(
      this.#database,
      page,
      (sql) => ({
        columns: sql`id, organization_id, email, role, grants, invited_by, created_at, expires_at`,
        from: sql`invitations where organization_id = ${organizationId} and expires_at > ${at}`,
        order: sql`created_at desc, id desc`,
      }),
      toInvitation,
    );
  }

  async accept(id: string, taker: InvitationTaker, at: Date): Promise<boolean> {
    const taken = await (taker.kind === "new"
      ? this.#acceptNew(id, taker, at)
      : this.#acceptKnown(id, taker.userId, at));
    await this.#signals.settled();
    return taken;
  }

  async remove(organizationId: string, id: string): Promise<boolean> {
    const { count } = await this.#database.run(
      (sql) => sql`delete from invitations where organization_id = ${organizationId} and id = ${id}`,
    );
    return count > 0;
  }

  async sweep(before: Date): Promise<number> {
    const { count } = await this.#database.run((sql) => sql`delete from invitations where expires_at < ${before}`);
    return count;
  }

  #acceptNew(id: string, { userId, name, passwordHash }: InvitationTaker & { readonly kind: "new" }, at: Date) {
    return this.#database.run<boolean>(
      async (sql) => {
        const { count } = await sql`
          with taken as (
            delete from invitations where id = ${id} returning organization_id, email, role, grants
          ), created as (
            insert into users (id, email, name, password_hash, created_at)
            select ${userId}, email, ${name}, ${passwordHash}, ${at}::timestamptz from taken
          )
          insert into members (organization_id, user_id, role, grants, created_at)
          select organization_id, ${userId}, role, grants, ${at}::timestamptz from taken`;
        return count > 0;
      },
      { users_email: emailTaken },
    );
  }

  #acceptKnown(id: string, userId: string, at: Date) {
    return this.#database.run<boolean>(async (sql) => {
      const [taken] = await sql`
        with taken as (
          delete from invitations where id = ${id} returning organization_id, role, grants
        ), joined as (
          insert into members (organization_id, user_id, role, grants, created_at)
          select organization_id, ${userId}, role, grants, ${at}::timestamptz from taken
          on conflict do nothing
        )
        select organization_id from taken`;
      return taken !== undefined;
    });
  }
}

function toInvitation(row: InvitationRow): Invitation {
  const { id, organization_id, email, role, grants, invited_by, created_at, expires_at } = row;
  return {
    id,
    organizationId: organization_id,
    email,
    role,
    grants,
    invitedBy: invited_by,
    createdAt: created_at,
    expiresAt: expires_at,
  };
}

function emailTaken(): never {
  throw conflict("email_taken", "Cannot create this account: the address has one; log in and accept again");
}
