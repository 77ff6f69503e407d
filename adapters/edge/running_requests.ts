/** Something that does not end by itself and can be asked to. */
export interface Endless {
  leave(): void;
}

interface Running {
  count: number;
  readonly endless: Set<Endless>;
  readonly waiting: Set<() => void>;
}

/** Which deployments have requests running. */
export class RunningRequests {
  readonly #running = new Map<string, Running>();

  begin(deploymentId: string): void {
    const running = this.#running.get(deploymentId);
    if (running) running.count++;
    else this.#running.set(deploymentId, { count: 1, endless: new Set(), waiting: new Set() });
  }

  end(deploymentId: string): void {
    const running = this.#running.get(deploymentId);
    if (!running || --running.count > 0) return;
    this.#running.delete(deploymentId);
    for (const resolve of running.waiting) resolve();
  }

  /** Notes that a running request will not end by itself. */
  note(deploymentId: string, endless: Endless): void {
    this.#running.get(deploymentId)?.endless.add(endless);
  }

  forget(deploymentId: string, endless: Endless): void {
    this.#running.get(deploymentId)?.endless.delete(endless);
  }

  /** Resolves once nothing of the deployment runs, or after the limit, when what does not end by itself is asked to. */
  async drained(deploymentId: string, limitMs: number): Promise<void> {
    const running = this.#running.get(deploymentId);
    if (!running) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    running.waiting.add(resolve);
    const timer = setTimeout(resolve, limitMs);
    await promise;
    clearTimeout(timer);
    running.waiting.delete(resolve);
    for (const endless of running.endless) endless.leave();
  }

  /** Asks everything that does not end by itself to end. */
  leaveAll(): void {
    for (const { endless } of this.#running.values()) for (const one of endless) one.leave();
  }
}
