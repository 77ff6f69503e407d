import { Failure } from "../../domain/failure.ts";
import type { SealedRows } from "../../ports/system/sealed_rows.ts";

/**
 * Combines the encrypted rows of several stores. Re-encrypts one store after the other, the last one only once nothing
 * is left in the others: the store that records which keys are needed comes last.
 */
export class CombinedSealedRows implements SealedRows {
  readonly #places: readonly SealedRows[];

  constructor(places: readonly SealedRows[]) {
    this.#places = places;
  }

  async countByKey(): Promise<ReadonlyMap<string, number>> {
    const counts = new Map<string, number>();
    for (const place of this.#places) {
      for (const [key, count] of await place.countByKey()) counts.set(key, (counts.get(key) ?? 0) + count);
    }
    return counts;
  }

  async reseal(limit: number): Promise<number> {
    let done = 0;
    let unreadable: Failure | undefined;
    for (const place of this.#places) {
      if (done === limit) break;
      try {
        done += await place.reseal(limit - done);
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        unreadable ??= error;
      }
    }
    // Unreadable rows do not block the rest; their failure is thrown only when nothing else is left.
    if (done === 0 && unreadable) throw unreadable;
    return done;
  }
}
