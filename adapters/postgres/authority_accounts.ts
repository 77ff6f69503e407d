import type { Secret } from "../../domain/secret.ts";
import type { AuthorityAccounts } from "../../ports/domains/authority_accounts.ts";
import type { Vault } from "../../ports/system/vault.ts";
import type { Database } from "./database.ts";
import { SEALED_COLUMNS, sealedPlace } from "./sealed_columns.ts";

/** Stores the keys of accounts at certificate authorities in PostgreSQL, encrypted. */
export class PostgresAuthorityAccounts implements AuthorityAccounts {
  readonly #database: Database;
  readonly #vault: Vault;

  constructor(database: Database, vault: Vault) {
    this.#database = database;
    this.#vault = vault;
  }

  async key(directoryUrl: string, offered: () => Promise<Secret>): Promise<Secret> {
    const place = sealedPlace(SEALED_COLUMNS.authorityAccountKey, directoryUrl);
    const known = await this.#sealed(directoryUrl);
    if (known !== undefined) return this.#vault.open(known, place);
    const sealed = await this.#vault.seal(await offered(), place);
    await this.#database.run(
      (sql) => sql`
        insert into authority_accounts (directory_url, sealed_key) values (${directoryUrl}, ${sealed})
        on conflict do nothing`,
    );
    // Another process may have been faster.
    return this.#vault.open((await this.#sealed(directoryUrl)) ?? sealed, place);
  }

  async #sealed(directoryUrl: string): Promise<string | undefined> {
    const [row] = await this.#database.run(
      (sql) => sql<{ sealed_key: string }[]>`
        select sealed_key from authority_accounts where directory_url = ${directoryUrl}`,
    );
    return row?.sealed_key;
  }
}
