/** Health of the dependencies of the server. */
export interface ServiceHealth {
  /**
   * Returns whether the database answers promptly: at once if that is known, else after asking it. Notices within a
   * second that it went away.
   */
  databaseAnswers(): boolean | Promise<boolean>;
}
