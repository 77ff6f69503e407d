/** Tells of programs that ended although they should run. */
export interface InstanceEndings {
  /**
   * Calls the handler with the id of an instance whose program has ended and is started again by itself; returns how to stop. An ending may be
   * missed, as while an engine is away: whoever has to know of all looks, too.
   */
  onEnding(handler: (instanceId: string) => void): () => void;
}
