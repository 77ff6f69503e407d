import type { Secret } from "../../domain/secret.ts";
import type { Vault } from "../../ports/system/vault.ts";
import type { Sql } from "./database.ts";
import { type SealedColumn, sealedPlace } from "./sealed_columns.ts";

type Sealed = Readonly<Record<string, string | null>>;

/** Several secrets of a row, each encrypted in its own column. A missing secret is `null`. */
export class SealedFields<Field extends string> {
  readonly #vault: Vault;
  readonly #columns: readonly (readonly [Field, SealedColumn])[];

  constructor(vault: Vault, columns: Readonly<Record<Field, SealedColumn>>) {
    this.#vault = vault;
    this.#columns = Object.entries(columns) as [Field, SealedColumn][];
  }

  /** The columns to select. */
  columns(sql: Sql) {
    return sql(this.#columns.map(([, { column }]) => column));
  }

  /** Encrypts the given secrets for a row and returns them by column. */
  async seal(id: string, secrets: Readonly<Partial<Record<Field, Secret | null>>>): Promise<Sealed> {
    const given = this.#columns.filter(([field]) => secrets[field] !== undefined);
    const sealed = given.map(async ([field, column]) => {
      const secret = secrets[field];
      return [column.column, secret ? await this.#vault.seal(secret, sealedPlace(column, id)) : null] as const;
    });
    return Object.fromEntries(await Promise.all(sealed));
  }

  /** Decrypts the secrets of a row. */
  async open(id: string, row: Sealed): Promise<Record<Field, Secret | null>> {
    const opened = this.#columns.map(async ([field, column]) => {
      const sealed = row[column.column] ?? null;
      return [field, sealed === null ? null : await this.#vault.open(sealed, sealedPlace(column, id))] as const;
    });
    return Object.fromEntries(await Promise.all(opened)) as Record<Field, Secret | null>;
  }
}
