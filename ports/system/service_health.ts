/** Health of the dependencies of the server. */
export interface ServiceHealth {
  /** Returns `true` when the database answers promptly. */
  databaseAnswers(): Promise<boolean>;
}
