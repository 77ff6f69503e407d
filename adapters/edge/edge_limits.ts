/** Timeouts of a client and its app, in milliseconds. */
export interface EdgeLimits {
  /** To complete a TLS handshake, and to receive the head of a request (request line and headers), from its first byte. */
  readonly headMs: number;
  /** Idle time between two requests (keep-alive timeout). */
  readonly idleMs: number;
  /** From the last byte of a request to the first byte of its response. */
  readonly answerMs: number;
  /** To drain the rest of an unwanted request body, and to flush the last bytes before a connection is closed. */
  readonly lingerMs: number;
}

export const EDGE_LIMITS: EdgeLimits = { headMs: 30_000, idleMs: 75_000, answerMs: 300_000, lingerMs: 10_000 };
