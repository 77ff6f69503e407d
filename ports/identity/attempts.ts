/** How many attempts are allowed per time window. */
export interface AttemptLimit {
  readonly limit: number;
  readonly windowMs: number;
}

/** Rate limiter: counts attempts by key, across all server processes, by the clock of the store. */
export interface Attempts {
  /**
   * Counts one attempt. Returns the seconds to wait when the limit is exceeded, else 0. Attempts beyond the limit do
   * not extend the wait.
   */
  take(key: string, limit: AttemptLimit): Promise<number>;
  /** Gives one attempt back, because it was not a failure. */
  giveBack(key: string, limit: AttemptLimit): Promise<void>;
  /** Deletes windows that ended at least `endedMs` ago and returns how many. */
  sweep(endedMs: number): Promise<number>;
}
