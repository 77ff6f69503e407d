import type { Clock } from "../../ports/system/clock.ts";

/** A clock that stands still until it is moved. */
export class MemoryClock implements Clock {
  #time: number;

  constructor(start: Date = new Date("2026-01-01T00:00:00.000Z")) {
    this.#time = start.getTime();
  }

  now(): Date {
    return new Date(this.#time);
  }

  set(time: Date): void {
    this.#time = time.getTime();
  }

  advance(ms: number): void {
    this.#time += ms;
  }
}
