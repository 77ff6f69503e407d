import { setTimeout as delay } from "node:timers/promises";
import { isAway } from "./caddy_admin.ts";

/** A change that waits to be pushed. */
interface Change<S> {
  apply(state: S): S;
  /** Until when to wait for a Caddy that does not answer. */
  readonly until: number;
  resolve(): void;
  reject(error: unknown): void;
}

/** What happens with changes. */
export interface PushOptions<S> {
  /** Gives a state to Caddy; rejects if Caddy is away or refuses it. */
  push(state: S): Promise<void>;
  /** Called when Caddy does not serve the state, and why; the state is kept, to be pushed again. */
  notServed(error: unknown): void;
  /** How long a change waits for a Caddy that does not answer, such as one that is being restarted. */
  readonly waitMs: number;
}

const RETRY_MS = 200;

/**
 * The state that Caddy has to have, pushed one change after the other; changes that wait share a push. A change that Caddy
 * refuses is dropped. While Caddy is away, changes are kept for later, although those who wait for them are told.
 */
export class CaddyPushes<S> {
  #state: S;
  readonly #options: PushOptions<S>;
  #waiting: Change<S>[] = [];
  #work: Promise<void> | undefined;
  /** Whether Caddy has accepted the state, so that a refusal is about what was changed since. */
  #accepted = false;
  #awaySince: number | undefined = -Infinity;

  constructor(state: S, options: PushOptions<S>) {
    this.#state = state;
    this.#options = options;
  }

  get state(): S {
    return this.#state;
  }

  get isBusy(): boolean {
    return this.#work !== undefined;
  }

  /** Resolves once Caddy has the changed state. */
  change(apply: (state: S) => S): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const now = performance.now();
    const until = Math.min(now, this.#awaySince ?? now) + this.#options.waitMs;
    this.#waiting.push({ apply, until, resolve, reject });
    this.#work ??= this.#carryOutAll();
    return promise;
  }

  /** Resolves once no push is under way. */
  async ended(): Promise<void> {
    await this.#work;
  }

  async #carryOutAll(): Promise<void> {
    while (this.#waiting.length > 0) await this.#carryOut(this.#waiting.splice(0));
    // In the same step as the last look, so that no change is left behind.
    this.#work = undefined;
  }

  async #carryOut(changes: readonly Change<S>[]): Promise<void> {
    const next = changes.reduce((state, change) => change.apply(state), this.#state);
    try {
      await this.#options.push(next);
      this.#state = next;
      this.#accepted = true;
      this.#awaySince = undefined;
      for (const change of changes) change.resolve();
    } catch (error) {
      if (isAway(error)) await this.#keep(changes, next, error);
      else if (this.#accepted && changes.length > 1) for (const change of changes) await this.#carryOut([change]);
      else {
        this.#awaySince = undefined;
        // If Caddy has accepted nothing so far, the reason may be elsewhere, such as a port in use.
        if (!this.#accepted) this.#notServed(next, error);
        for (const change of changes) change.reject(error);
      }
    }
  }

  /** Keeps changes for a Caddy that is away. Those who have waited long enough are told. */
  async #keep(changes: readonly Change<S>[], next: S, error: unknown): Promise<void> {
    const now = performance.now();
    this.#accepted = false;
    this.#awaySince ??= now;
    const isLate = ({ until }: Change<S>) => until <= now;
    const patient = changes.filter((change) => !isLate(change));
    if (patient.length < changes.length) this.#notServed(next, error);
    for (const change of changes.filter(isLate)) change.reject(error);
    if (patient.length === 0) return;
    await delay(RETRY_MS);
    this.#waiting.unshift(...patient);
  }

  #notServed(state: S, error: unknown): void {
    this.#state = state;
    this.#options.notServed(error);
  }
}
