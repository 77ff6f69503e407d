/** Where to ask. */
export interface ProbeTarget {
  readonly host: string;
  readonly port: number;
  readonly path: string | null;
  /** Whether something in between takes connections although the program itself may not listen yet. */
  readonly relayed: boolean;
}

/** What a program said. */
export interface ProbeResult {
  readonly isHealthy: boolean;
  /** The HTTP status that it answered with; `null` when it did not, or no path was asked for. */
  readonly status: number | null;
}

/** Asks a freshly started program whether it is there. */
export interface HealthProbe {
  /**
   * Healthy is, with a path, a status below 400, and without one a connection that is taken; never rejects. A connection that is relayed counts
   * once anything comes back on it, or when it stays open although it was asked something.
   */
  check(target: ProbeTarget, options: { readonly timeoutMs: number }): Promise<ProbeResult>;
}
