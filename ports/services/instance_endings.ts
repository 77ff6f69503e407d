/** Reports programs that ended although they should run. */
export interface InstanceEndings {
  /**
   * Calls the handler with the id of an instance whose program ended and restarts by itself. Returns a function that
   * unsubscribes. An ending may be missed, for example while an engine is away: to see all of them, also poll.
   */
  onEnding(handler: (instanceId: string) => void): () => void;
}
