/** Every stored secret, by the key that encrypts it. */
export interface SealedRows {
  /** Returns the number of stored secrets per key. */
  countByKey(): Promise<ReadonlyMap<string, number>>;
  /**
   * Re-encrypts up to `limit` secrets that use another key than the current one, and returns how many. Skips a value
   * that changed meanwhile.
   */
  reseal(limit: number): Promise<number>;
}
