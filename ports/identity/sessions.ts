/** A login session of a user. Its cookie is stored only as a fingerprint. */
export interface Session {
  readonly id: string;
  readonly userId: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

/** Stores login sessions. */
export interface Sessions {
  create(session: Session, fingerprint: string): Promise<void>;
  /** Ends a session at once, in every process. An unknown id is no error. */
  end(id: string): Promise<void>;
  /** Ends every session of a user except `keepId`. */
  endOthers(userId: string, keepId: string | null): Promise<void>;
  /** Deletes sessions that expired before a time and returns how many. */
  sweep(before: Date): Promise<number>;
}
