/** How long one may take to leave before the next one does: a container may have minutes to end in. */
const NEXT_AFTER_MS = 300;

/**
 * Lets containers leave the networks of their scope one after the other. Engines before version 23 lock up for good when two leave a network in the same
 * moment (moby/moby#46661): nothing can be started, stopped or looked at until they are restarted. Those that take long leave side by side, a little apart.
 */
export class Departures {
  readonly #last = new Map<string, Promise<void>>();

  /** Has one of a scope leave when it is its turn. */
  async run<T>(scope: string, leave: () => Promise<T>): Promise<T> {
    const before = this.#last.get(scope);
    const { promise: next, resolve: letNextLeave } = Promise.withResolvers<void>();
    this.#last.set(scope, next);
    await before;
    const timer = setTimeout(letNextLeave, NEXT_AFTER_MS);
    try {
      return await leave();
    } finally {
      clearTimeout(timer);
      letNextLeave();
      if (this.#last.get(scope) === next) this.#last.delete(scope);
    }
  }
}
