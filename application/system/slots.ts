interface Waiting {
  readonly owner: string;
  readonly begin: () => void;
}

export interface SlotOptions {
  readonly signal?: AbortSignal | undefined;
  readonly owner?: string;
}

/**
 * Limits how much work runs at once; the rest waits in a queue. The owner with the least running work goes first, in
 * order of arrival on a tie, so that one owner's many jobs do not starve the others.
 */
export class Slots {
  #free: number;
  #waiting: readonly Waiting[] = [];
  readonly #running = new Map<string, number>();

  constructor(count: number) {
    this.#free = count;
  }

  /** Runs work of an owner once a slot is free; rejects with the signal's reason if it aborts while waiting. */
  async run<T>(work: () => Promise<T>, options: SlotOptions = {}): Promise<T> {
    const leave = await this.take(options);
    try {
      return await work();
    } finally {
      leave();
    }
  }

  /** Waits for a free slot like `run`; resolves to a function that releases it, idempotently. */
  async take({ signal, owner = "" }: SlotOptions = {}): Promise<() => void> {
    signal?.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting: Waiting = { owner, begin: resolve };
    const abort = () => {
      if (!this.#waiting.includes(waiting)) return;
      this.#waiting = this.#waiting.filter((other) => other !== waiting);
      reject(signal?.reason);
    };
    this.#waiting = [...this.#waiting, waiting];
    signal?.addEventListener("abort", abort, { once: true });
    this.#letNextBegin();
    await promise.finally(() => signal?.removeEventListener("abort", abort));
    let hasLeft = false;
    return () => {
      if (hasLeft) return;
      hasLeft = true;
      this.#count(owner, -1);
      this.#free++;
      this.#letNextBegin();
    };
  }

  #letNextBegin(): void {
    if (this.#free === 0 || this.#waiting.length === 0) return;
    const running = ({ owner }: Waiting) => this.#running.get(owner) ?? 0;
    const next = this.#waiting.reduce((first, other) => (running(other) < running(first) ? other : first));
    this.#waiting = this.#waiting.filter((other) => other !== next);
    this.#free--;
    this.#count(next.owner, 1);
    next.begin();
  }

  #count(owner: string, change: number): void {
    const count = (this.#running.get(owner) ?? 0) + change;
    if (count === 0) this.#running.delete(owner);
    else this.#running.set(owner, count);
  }
}
