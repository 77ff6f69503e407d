import type { SealedRows } from "../../ports/system/sealed_rows.ts";
import type { SealedPlace, Vault } from "../../ports/system/vault.ts";

/** A stored secret and the place it is bound to. */
export interface SealedRow {
  readonly place: SealedPlace;
  sealed: string;
}

/** Counts and re-encrypts the secrets of a list in memory, for key rotation. */
export class MemorySealedRows implements SealedRows {
  readonly #rows: readonly SealedRow[];
  readonly #vault: Vault;

  constructor(rows: readonly SealedRow[], vault: Vault) {
    this.#rows = rows;
    this.#vault = vault;
  }

  async countByKey(): Promise<ReadonlyMap<string, number>> {
    const byKey = Map.groupBy(this.#rows, ({ sealed }) => keyOf(sealed));
    return new Map(byKey.entries().map(([key, rows]) => [key, rows.length]));
  }

  async reseal(limit: number): Promise<number> {
    const current = this.#vault.keyId();
    let resealed = 0;
    for (const row of this.#rows.filter(({ sealed }) => keyOf(sealed) !== current).slice(0, limit)) {
      const { sealed, place } = row;
      const anew = await this.#vault.seal(await this.#vault.open(sealed, place), place);
      if (row.sealed !== sealed) continue;
      row.sealed = anew;
      resealed++;
    }
    return resealed;
  }
}

function keyOf(sealed: string): string {
  return sealed.split(".")[1] ?? "";
}
