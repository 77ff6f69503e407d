/** Identifies a request that has an idempotency key. */
export interface IdempotentRequest {
  /** User and organization. */
  readonly caller: string;
  readonly key: string;
  /** Method and path with query. */
  readonly route: string;
  /** Fingerprint of the body; `null` while it is still streaming in. */
  readonly body: string | null;
}

/** A stored response. */
export interface KeptAnswer {
  readonly status: number;
  readonly body: string;
}

export type Claim =
  | { readonly state: "mine"; readonly claimId: string }
  | { readonly state: "running" }
  | { readonly state: "answered"; readonly body: string; readonly answer: KeptAnswer }
  | { readonly state: "other_request" };

/**
 * Stores responses by idempotency key, so that a repeated request changes nothing twice. Leases and ages use the clock
 * of the store.
 */
export interface IdempotentAnswers {
  /**
   * Claims a key for a request, or returns the state of the existing claim. A claim is valid until `leaseMs` after its
   * last renewal; then another request may take it, so that a crashed process does not block its client. Responses
   * older than 24 h are forgotten.
   */
  claim(request: IdempotentRequest, leaseMs: number): Promise<Claim>;
  renew(claimId: string, leaseMs: number): Promise<void>;
  /** Stores the response of a claim, with the fingerprint of the request body. */
  keep(claimId: string, body: string, answer: KeptAnswer): Promise<void>;
  /** Releases a claim without a response. */
  release(claimId: string): Promise<void>;
  /** Deletes responses that are at least `ageMs` old and returns how many. */
  sweep(ageMs: number): Promise<number>;
}
