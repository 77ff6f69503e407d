/** The address to probe. */
export interface ProbeTarget {
  readonly host: string;
  readonly port: number;
  readonly path: string | null;
  /** Whether a proxy in between accepts connections even while the program itself does not listen yet. */
  readonly relayed: boolean;
}

/** The result of a health check. */
export interface ProbeResult {
  readonly isHealthy: boolean;
  /** The HTTP status of the response; `null` without a response or without a path. */
  readonly status: number | null;
}

/** Health check of a freshly started program. */
export interface HealthProbe {
  /**
   * With a path, healthy means an HTTP status below 400; without one, an accepted connection. Never rejects. A relayed
   * connection counts once any data comes back on it, or when it stays open after a request was sent.
   */
  check(target: ProbeTarget, options: { readonly timeoutMs: number }): Promise<ProbeResult>;
}
