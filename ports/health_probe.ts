/** Where to ask. */
export interface ProbeTarget {
  readonly host: string;
  readonly port: number;
  readonly path: string | null;
  /** Whether something in between takes connections although the program itself may not listen yet. */
  readonly relayed: boolean;
}

/** Asks a freshly started program whether it is there. */
export interface HealthProbe {
  /**
   * Whether it answers: with a path by a status below 400, without one by taking a connection; never rejects. A connection that is relayed counts
   * once anything comes back on it, or when it stays open although it was asked something.
   */
  answers(target: ProbeTarget, options: { readonly timeoutMs: number }): Promise<boolean>;
}
