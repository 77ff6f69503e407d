import { Failure } from "../../domain/failure.ts";
import type { SealedRows } from "../../ports/system/sealed_rows.ts";
import type { Vault } from "../../ports/system/vault.ts";
import type { Database, Sql } from "./database.ts";
import { SEALED_COLUMNS, type SealedColumn } from "./sealed_columns.ts";

interface SealedRow {
  readonly row: string;
  readonly sealed: string;
}

const BATCH = 100;

/** Counts and re-encrypts the values of every sealed (encrypted) column, for key rotation. */
export class PostgresSealedRows implements SealedRows {
  readonly #database: Database;
  readonly #vault: Vault;

  constructor(database: Database, vault: Vault) {
    this.#database = database;
    this.#vault = vault;
  }

  async countByKey(): Promise<ReadonlyMap<string, number>> {
    const counts = new Map<string, number>();
    for (const sealed of Object.values(SEALED_COLUMNS)) {
      const rows = await this.#database.run(
        (sql) => sql<{ key: string; count: number }[]>`
          select split_part(${sql(sealed.column)}, '.', 2) as key, count(*) as count
          from ${sql(sealed.table)} where ${sql(sealed.column)} is not null group by 1`,
      );
      for (const { key, count } of rows) counts.set(key, (counts.get(key) ?? 0) + count);
    }
    return counts;
  }

  async reseal(limit: number): Promise<number> {
    let done = 0;
    let unreadable: unknown;
    for (const column of Object.values(SEALED_COLUMNS)) {
      for (let after = "", more = true; more && done < limit;) {
        const rows = await this.#sealedOtherwise(column, after, Math.min(BATCH, limit - done));
        const anew: (SealedRow & { readonly fresh: string })[] = [];
        for (const row of rows) {
          try {
            anew.push({ ...row, fresh: await this.#sealAnew(column, row) });
          } catch (error) {
            unreadable = error;
          }
        }
        done += await this.#exchange(column, anew);
        after = rows.at(-1)?.row ?? after;
        more = rows.length > 0;
      }
    }
    // Rows that cannot be decrypted do not block the others. Their error is thrown only once nothing else is left.
    if (done === 0 && unreadable instanceof Failure) throw unreadable;
    if (done === 0) await this.#forgetUnusedKeys();
    return done;
  }

  #sealedOtherwise({ table, keys, column }: SealedColumn, after: string, limit: number) {
    return this.#database.run(
      (sql) => sql<SealedRow[]>`
        select * from (
          select ${rowName(sql, keys)} as row, ${sql(column)} as sealed from ${sql(table)}
          where split_part(${sql(column)}, '.', 2) <> ${this.#vault.keyId()}
        ) as candidates
        where row > ${after} order by row limit ${limit}`,
    );
  }

  async #sealAnew({ table, column }: SealedColumn, { row, sealed }: SealedRow): Promise<string> {
    const place = { table, row, field: column };
    return this.#vault.seal(await this.#vault.open(sealed, place), place);
  }

  /** Replaces old ciphertexts with their re-encrypted ones. Keeps values that changed meanwhile. */
  async #exchange(
    { table, keys, column }: SealedColumn,
    rows: readonly (SealedRow & { readonly fresh: string })[],
  ): Promise<number> {
    if (rows.length === 0) return 0;
    const { count } = await this.#database.run(
      (sql) => sql`
        update ${sql(table)} set ${sql(column)} = anew.fresh
        from unnest(
          ${rows.map(({ row }) => row)}::text[],
          ${rows.map(({ sealed }) => sealed)}::text[],
          ${rows.map(({ fresh }) => fresh)}::text[]
        ) as anew (row, sealed, fresh)
        where ${rowName(sql, keys)} = anew.row and ${sql(column)} = anew.sealed`,
    );
    return count;
  }

  /** Deletes unused keys, so that the next start does not require them to be configured. */
  async #forgetUnusedKeys(): Promise<void> {
    const used = [...(await this.countByKey()).keys(), this.#vault.keyId()];
    await this.#database.run((sql) => sql`delete from vault_keys where key_id <> all (${used}::text[])`);
  }
}

function rowName(sql: Sql, keys: SealedColumn["keys"]) {
  const [first, ...rest] = keys.map((key) => sql`${sql(key)}`);
  return rest.reduce((name, key) => sql`${name} || '/' || ${key}`, first!);
}
