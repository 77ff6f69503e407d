/** Which request an answer belongs to. */
export interface IdempotentRequest {
  /** Who asks: person and organization. */
  readonly caller: string;
  readonly key: string;
  /** Method and path with query. */
  readonly route: string;
  /** Fingerprint of the body; `null` while it still streams in. */
  readonly body: string | null;
}

/** An answer as it was given. */
export interface KeptAnswer {
  readonly status: number;
  readonly body: string;
}

export type Claim =
  | { readonly state: "mine"; readonly claimId: string }
  | { readonly state: "running" }
  | { readonly state: "answered"; readonly body: string; readonly answer: KeptAnswer }
  | { readonly state: "other_request" };

/** Remembers answers by key, so that a repeated request changes nothing twice; leases and ages are by the clock of the store. */
export interface IdempotentAnswers {
  /**
   * Claims a key for a request, or tells what became of it. A claim holds until `leaseMs` after its last renewal; then another may take it, so that a
   * process that died does not block its caller. Answers older than 24 h are forgotten.
   */
  claim(request: IdempotentRequest, leaseMs: number): Promise<Claim>;
  renew(claimId: string, leaseMs: number): Promise<void>;
  /** Keeps the answer of a claim, with the fingerprint of the body it answered. */
  keep(claimId: string, body: string, answer: KeptAnswer): Promise<void>;
  /** Frees a claim without an answer. */
  release(claimId: string): Promise<void>;
  /** Forgets answers that are so old, and tells how many. */
  sweep(ageMs: number): Promise<number>;
}
