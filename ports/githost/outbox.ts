/** What an entry of an outbox needs to be retried. */
export interface OutboxEntry {
  /** How often it has failed. */
  readonly failures: number;
  /** A fencing token, because every take increments it. */
  readonly attempt: number;
}

/**
 * What has to be reported to the git host, one entry for each thing that is reported about. Entries become due together
 * with the change that they report. All times are by the clock of the store, which all processes share.
 */
export interface Outbox<Entry extends OutboxEntry> {
  /** Takes the entry that has been due for longest, for `leaseMs`: of several callers, one gets it. */
  take(leaseMs: number): Promise<Entry | undefined>;
  /**
   * Records that an entry was reported or needs no report. It is due again at once if there is something new to report
   * since it was taken. It also is if the lease was lost, because reports of two processes may have arrived in any order.
   */
  finish(entry: Entry): Promise<void>;
  /**
   * Makes a taken entry due again after `afterMs`, with so many failures; with none if there is something new to report
   * since. Something new does not end the wait. Does nothing if the lease was lost.
   */
  retry(entry: Entry, next: { readonly afterMs: number; readonly failures: number }): Promise<void>;
  /** Returns the milliseconds until an entry can be taken, at least 0; `null` if there is none. */
  nextDueMs(): Promise<number | null>;
  /** Calls the handler whenever there may be something new to take, in any process. Returns a function that unsubscribes. */
  onDue(handler: () => void): () => void;
}
