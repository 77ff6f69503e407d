/** Those who want to know of instances whose program has ended. */
export class EndingHandlers {
  readonly #handlers = new Set<(instanceId: string) => void>();

  /** Returns how to remove it. */
  add(handler: (instanceId: string) => void): () => void {
    this.#handlers.add(handler);
    return () => void this.#handlers.delete(handler);
  }

  tell(instanceId: string): void {
    for (const handler of this.#handlers) handler(instanceId);
  }
}
