import type { Clock } from "../../ports/system/clock.ts";

const REFUSED_MS = 3_600_000;

/** Remembers for an hour for which projects the git host has refused something. */
export class RefusedProjects {
  readonly #clock: Clock;
  /** In milliseconds, by project. */
  readonly #until = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  has(projectId: string): boolean {
    return this.#clock.now().getTime() < (this.#until.get(projectId) ?? 0);
  }

  add(projectId: string): void {
    const now = this.#clock.now().getTime();
    for (const [id, until] of this.#until) if (until <= now) this.#until.delete(id);
    this.#until.set(projectId, now + REFUSED_MS);
  }
}
