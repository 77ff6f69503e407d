/** Every stored secret, seen by the key it is sealed with. */
export interface SealedRows {
  /** How many stored secrets each key seals. */
  countByKey(): Promise<ReadonlyMap<string, number>>;
  /** Seals up to `limit` secrets anew that another key than the current one seals, and tells how many. A value changed meanwhile is left alone. */
  reseal(limit: number): Promise<number>;
}
