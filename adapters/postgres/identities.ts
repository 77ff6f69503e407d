import type { Identity, Membership } from "../../domain/identity/identity.ts";
import type { Narrowing } from "../../domain/identity/permission.ts";
import type { Identities } from "../../ports/identity/identities.ts";
import { CredentialUses } from "./credential_uses.ts";
import type { Database } from "./database.ts";
import { IdentityCache } from "./identity_cache.ts";
import type { PostgresSignals } from "./signals.ts";

interface IdentityRow {
  readonly id: string;
  readonly user_id: string;
  readonly founder: boolean;
  readonly expires_at: Date | null;
  readonly narrowing: Narrowing | null;
  readonly link: boolean;
  readonly bound_to: string | null;
  readonly memberships: readonly Membership[];
}

/** Looks up identities with one statement, or from the cache while this process is notified of every change to them. */
export class PostgresIdentities implements Identities {
  readonly #database: Database;
  readonly #cache: IdentityCache;
  readonly #uses: CredentialUses;

  constructor(database: Database, signals: PostgresSignals, usesMs?: number) {
    this.#database = database;
    this.#cache = new IdentityCache(signals);
    this.#uses = new CredentialUses(database, usesMs);
  }

  async find(kind: "token" | "session", fingerprint: string): Promise<Identity | undefined> {
    const known = this.#cache.get(kind, fingerprint);
    if (known) return known;
    const remember = this.#cache.beginRead();
    const [row] = await (kind === "token" ? this.#readToken(fingerprint) : this.#readSession(fingerprint));
    if (!row) return undefined;
    const identity: Identity = {
      userId: row.user_id,
      founder: row.founder,
      credential: { kind, id: row.id, ...(row.link && { link: true }) },
      expiresAt: row.expires_at,
      narrowing: row.narrowing,
      boundTo: row.bound_to,
      memberships: row.memberships,
    };
    remember(fingerprint, identity);
    return identity;
  }

  used(credential: Identity["credential"], at: Date): void {
    this.#uses.note(credential, at);
  }

  /** Writes the buffered uses and stops. Gives up after two seconds. */
  async close(): Promise<void> {
    await this.#uses.close();
  }

  #readToken(fingerprint: string) {
    return this.#database.run(
      (sql) => sql<IdentityRow[]>`
        select t.id, t.user_id, u.founder, t.expires_at, t.narrowing, t.link, t.organization_id as bound_to,
          (select coalesce(jsonb_agg(jsonb_build_object(
              'organizationId', m.organization_id, 'role', m.role, 'grants', m.grants) order by m.created_at, m.joined), '[]')
            from members m where m.user_id = t.user_id) as memberships
        from tokens t join users u on u.id = t.user_id
        where t.fingerprint = ${fingerprint} and t.revoked_at is null`,
    );
  }

  #readSession(fingerprint: string) {
    return this.#database.run(
      (sql) => sql<IdentityRow[]>`
        select s.id, s.user_id, u.founder, s.expires_at, null::jsonb as narrowing, false as link, null as bound_to,
          (select coalesce(jsonb_agg(jsonb_build_object(
              'organizationId', m.organization_id, 'role', m.role, 'grants', m.grants) order by m.created_at, m.joined), '[]')
            from members m where m.user_id = s.user_id) as memberships
        from sessions s join users u on u.id = s.user_id
        where s.fingerprint = ${fingerprint}`,
    );
  }
}
