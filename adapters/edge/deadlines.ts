/** Something that expires at a deadline. */
export interface Timed {
  /** Time on the clock of `Deadlines.now`; `Infinity` for never. */
  deadline: number;
  expire(): void;
}

const TICK_MS = 500;

/** One coarse clock for all connections, so that requests need no timers of their own. */
export class Deadlines implements Disposable {
  readonly #timed = new Set<Timed>();
  readonly #timer: Timer;
  now = performance.now();

  constructor() {
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
    this.#timer.unref();
  }

  add(timed: Timed): void {
    this.#timed.add(timed);
  }

  delete(timed: Timed): void {
    this.#timed.delete(timed);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #tick(): void {
    this.now = performance.now();
    for (const timed of this.#timed) if (timed.deadline < this.now) timed.expire();
  }
}
