/** How long to wait for one container to leave before the next may: a container may have minutes to stop. */
const NEXT_AFTER_MS = 300;

/**
 * Lets containers leave the networks of their scope one after the other. Engines before version 23 deadlock when two
 * leave a network at the same moment (moby/moby#46661): nothing can be started, stopped or inspected until the engine
 * is restarted. Slow departures overlap, but start 300 ms apart.
 */
export class NetworkLeaveQueue {
  readonly #last = new Map<string, Promise<void>>();

  /** Runs a departure from a scope when it is its turn. */
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
