/** How many attempts are allowed in a window of time. */
export interface AttemptLimit {
  readonly limit: number;
  readonly windowMs: number;
}

/** Counts attempts by key, over all server processes, by the clock of the store. */
export interface Attempts {
  /** Counts one attempt; tells the seconds to wait when the limit is passed, else 0. Attempts beyond the limit do not lengthen the wait. */
  take(key: string, limit: AttemptLimit): Promise<number>;
  /** Takes one attempt back, because it was no failure. */
  giveBack(key: string, limit: AttemptLimit): Promise<void>;
  /** Forgets windows that ended so long ago, and tells how many. */
  sweep(endedMs: number): Promise<number>;
}
