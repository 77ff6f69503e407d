import type { OAuthAccount } from "../../domain/githost/oauth_account.ts";
import type { OAuthGrant } from "../../domain/githost/oauth_grant.ts";
import type { OAuthAccounts } from "../../ports/githost/oauth_accounts.ts";
import type { Vault } from "../../ports/system/vault.ts";
import type { Database } from "./database.ts";
import { SEALED_COLUMNS, sealedPlace } from "./sealed_columns.ts";

type AccountKey = Pick<OAuthAccount, "organizationId" | "userId">;

interface GrantRow {
  readonly sealed_token: string;
  readonly sealed_refresh_token: string | null;
  readonly expires_at: Date | null;
}

/** Stores accounts that users connected by OAuth in PostgreSQL, with encrypted tokens. */
export class PostgresOAuthAccounts implements OAuthAccounts {
  readonly #database: Database;
  readonly #vault: Vault;

  constructor(database: Database, vault: Vault) {
    this.#database = database;
    this.#vault = vault;
  }

  async list(organizationId: string): Promise<readonly OAuthAccount[]> {
    const rows = await this.#database.run(
      (sql) => sql<{ user_id: string; login: string; connected_at: Date }[]>`
        select user_id, login, connected_at from oauth_accounts where organization_id = ${organizationId}
        order by connected_at, user_id`,
    );
    return rows.map(({ user_id, login, connected_at }) => ({
      organizationId,
      userId: user_id,
      login,
      connectedAt: connected_at,
    }));
  }

  async grant(organizationId: string, userId: string): Promise<OAuthGrant | undefined> {
    const row = await this.#find({ organizationId, userId });
    return row && this.#open({ organizationId, userId }, row);
  }

  async put(account: OAuthAccount, grant: OAuthGrant): Promise<void> {
    const { organizationId, userId, login, connectedAt } = account;
    const { sealed_token, sealed_refresh_token, expires_at } = await this.#seal(account, grant);
    await this.#database.run(
      (sql) => sql`
        insert into oauth_accounts (organization_id, user_id, login, sealed_token, sealed_refresh_token, expires_at,
          connected_at)
        values (${organizationId}, ${userId}, ${login}, ${sealed_token}, ${sealed_refresh_token}, ${expires_at},
          ${connectedAt})
        on conflict (organization_id, user_id) do update set
          login = excluded.login, sealed_token = excluded.sealed_token,
          sealed_refresh_token = excluded.sealed_refresh_token, expires_at = excluded.expires_at,
          connected_at = excluded.connected_at`,
    );
  }

  async renew(account: AccountKey, former: OAuthGrant, grant: OAuthGrant): Promise<boolean> {
    const fresh = await this.#seal(account, grant);
    for (;;) {
      const row = await this.#find(account);
      if (!row || !hasSameTokens(await this.#open(account, row), former)) return false;
      if (await this.#exchange(account, row, fresh)) return true;
      // The row was changed between the two statements, if only by a key rotation: look again.
    }
  }

  async remove(organizationId: string, userId: string): Promise<boolean> {
    const { count } = await this.#database.run(
      (sql) => sql`delete from oauth_accounts where organization_id = ${organizationId} and user_id = ${userId}`,
    );
    return count > 0;
  }

  async #find({ organizationId, userId }: AccountKey): Promise<GrantRow | undefined> {
    const [row] = await this.#database.run(
      (sql) => sql<GrantRow[]>`
        select sealed_token, sealed_refresh_token, expires_at from oauth_accounts
        where organization_id = ${organizationId} and user_id = ${userId}`,
    );
    return row;
  }

  /** Replaces tokens as they were read. Returns `false` if they are others by now, or encrypted anew. */
  async #exchange({ organizationId, userId }: AccountKey, read: GrantRow, fresh: GrantRow): Promise<boolean> {
    const { count } = await this.#database.run(
      (sql) => sql`
        update oauth_accounts set sealed_token = ${fresh.sealed_token},
          sealed_refresh_token = ${fresh.sealed_refresh_token}, expires_at = ${fresh.expires_at}
        where organization_id = ${organizationId} and user_id = ${userId} and sealed_token = ${read.sealed_token}
          and sealed_refresh_token is not distinct from ${read.sealed_refresh_token}`,
    );
    return count > 0;
  }

  async #seal(account: AccountKey, { token, refreshToken, expiresAt }: OAuthGrant): Promise<GrantRow> {
    const { tokenPlace, refreshPlace } = placesOf(account);
    return {
      sealed_token: await this.#vault.seal(token, tokenPlace),
      sealed_refresh_token: refreshToken && (await this.#vault.seal(refreshToken, refreshPlace)),
      expires_at: expiresAt,
    };
  }

  async #open(account: AccountKey, row: GrantRow): Promise<OAuthGrant> {
    const { tokenPlace, refreshPlace } = placesOf(account);
    const { sealed_token, sealed_refresh_token, expires_at } = row;
    return {
      token: await this.#vault.open(sealed_token, tokenPlace),
      refreshToken: sealed_refresh_token === null ? null : await this.#vault.open(sealed_refresh_token, refreshPlace),
      expiresAt: expires_at,
    };
  }
}

function placesOf({ organizationId, userId }: AccountKey) {
  return {
    tokenPlace: sealedPlace(SEALED_COLUMNS.oauthToken, organizationId, userId),
    refreshPlace: sealedPlace(SEALED_COLUMNS.oauthRefreshToken, organizationId, userId),
  };
}

function hasSameTokens(one: OAuthGrant, other: OAuthGrant): boolean {
  return one.token.reveal() === other.token.reveal() && one.refreshToken?.reveal() === other.refreshToken?.reveal();
}
