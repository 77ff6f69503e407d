/** How many attempts are allowed in a window of time. */
export interface AttemptLimit {
  readonly limit: number;
  readonly windowMs: number;
}

/** Counts attempts by key, over all server processes. */
export interface Attempts {
  /** Counts one attempt; tells the seconds to wait when the limit is passed, else 0. Attempts beyond the limit do not lengthen the wait. */
  take(key: string, limit: AttemptLimit, at: Date): Promise<number>;
  /** Takes one attempt back, because it was no failure. */
  giveBack(key: string, limit: AttemptLimit, at: Date): Promise<void>;
  /** Forgets windows that ended before a time, and tells how many. */
  sweep(before: Date): Promise<number>;
}
