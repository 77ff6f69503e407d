/** A login of a person, kept only as the fingerprint of its cookie. */
export interface Session {
  readonly id: string;
  readonly userId: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

/** Where logins are kept. */
export interface Sessions {
  create(session: Session, fingerprint: string): Promise<void>;
  /** Ends a session at once, everywhere; an unknown one is no error. */
  end(id: string): Promise<void>;
  /** Ends every session of a person but one. */
  endOthers(userId: string, keepId: string | null): Promise<void>;
  /** Removes sessions that expired before a time, and tells how many. */
  sweep(before: Date): Promise<number>;
}
