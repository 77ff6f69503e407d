import { CRASH_LOOP } from "../../domain/deployments/crash_loop.ts";

/** The recent exits of a program, and how long it was up the last time. */
export interface Endings {
  /** Times at which it exited without having stayed up, in milliseconds. */
  readonly endings: readonly number[];
  readonly upMs: number;
  readonly at: number;
}

/** The restart decision for a program that should be running. */
export interface NextStart {
  readonly endings: readonly number[];
  readonly pauseMs: number;
}

export const STEADY_MS = 10_000;
const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 60_000;
const REMEMBERED = 20;

/** Restart policy: exponential backoff up to a minute, reset once the program has stayed up. */
export function afterEnding({ endings, upMs, at }: Endings): NextStart {
  if (upMs >= STEADY_MS) return { endings: [], pauseMs: FIRST_PAUSE_MS };
  const all = [...endings, at].slice(-REMEMBERED);
  return { endings: all, pauseMs: Math.min(FIRST_PAUSE_MS * 2 ** (all.length - 1), LONGEST_PAUSE_MS) };
}

/** Returns whether a program is in a crash loop: it keeps exiting without staying up in between. */
export function isCrashLoop(endings: readonly number[]): boolean {
  return endings.length >= CRASH_LOOP;
}
