/** The container engine of this server. */
export interface ContainerEngine {
  /**
   * Returns whether the engine answers, now or as of a moment ago. Never rejects. An engine that accepts the request
   * but is slow gets `withinMs` to answer, 5 s by default; without an engine this returns `false` at once.
   */
  answers(options?: { readonly withinMs?: number }): Promise<boolean>;
}
