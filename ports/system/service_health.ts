/** Whether the parts that the service needs answer. */
export interface ServiceHealth {
  /** `true` when the database answers in a moment. */
  databaseAnswers(): Promise<boolean>;
}
