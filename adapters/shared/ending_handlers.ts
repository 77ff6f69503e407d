/** Listeners for instances whose program has exited. */
export class EndingHandlers {
  readonly #handlers = new Set<(instanceId: string) => void>();

  /** Adds a handler; returns a function that removes it. */
  add(handler: (instanceId: string) => void): () => void {
    this.#handlers.add(handler);
    return () => void this.#handlers.delete(handler);
  }

  notify(instanceId: string): void {
    for (const handler of this.#handlers) handler(instanceId);
  }
}
