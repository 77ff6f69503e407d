/** The engine that runs containers for this service. */
export interface ContainerEngine {
  /**
   * Whether the engine is there and answers, as of now or a moment ago; never rejects. An engine that accepts the question and is slow is given `withinMs`
   * to answer, by default 5 s; that none is there is told at once.
   */
  answers(options?: { readonly withinMs?: number }): Promise<boolean>;
}
