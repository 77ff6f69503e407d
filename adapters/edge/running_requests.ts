/** A long-lived connection that can be asked to close. */
export interface Closable {
  leave(): void;
}

interface Running {
  count: number;
  readonly endless: Set<Closable>;
  readonly waiting: Set<() => void>;
}

/** Counts the running requests of each deployment. */
export class RunningRequests {
  readonly #running = new Map<string, Running>();

  begin(servedBy: string): void {
    const running = this.#running.get(servedBy);
    if (running) running.count++;
    else this.#running.set(servedBy, { count: 1, endless: new Set(), waiting: new Set() });
  }

  end(servedBy: string): void {
    const running = this.#running.get(servedBy);
    if (!running || --running.count > 0) return;
    this.#running.delete(servedBy);
    for (const resolve of running.waiting) resolve();
  }

  /** Registers a running request that does not end by itself. */
  note(servedBy: string, endless: Closable): void {
    this.#running.get(servedBy)?.endless.add(endless);
  }

  forget(servedBy: string, endless: Closable): void {
    this.#running.get(servedBy)?.endless.delete(endless);
  }

  /** Resolves once no request of the deployment runs, or after `limitMs`; then asks long-lived connections to close. */
  async drained(servedBy: string, limitMs: number): Promise<void> {
    const running = this.#running.get(servedBy);
    if (!running) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    running.waiting.add(resolve);
    const timer = setTimeout(resolve, limitMs);
    await promise;
    clearTimeout(timer);
    running.waiting.delete(resolve);
    for (const endless of running.endless) endless.leave();
  }

  /** Asks all long-lived connections to close. */
  leaveAll(): void {
    for (const { endless } of this.#running.values()) for (const one of endless) one.leave();
  }
}
