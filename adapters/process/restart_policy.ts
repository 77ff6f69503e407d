import { CRASH_LOOP } from "../../domain/deployments/crash_loop.ts";

/** How often a program ended lately, and how long it was up the last time. */
export interface Endings {
  /** When it ended without having stayed up, in milliseconds. */
  readonly endings: readonly number[];
  readonly upMs: number;
  readonly at: number;
}

/** What follows the end of a program that should run. */
export interface NextStart {
  readonly endings: readonly number[];
  readonly pauseMs: number;
}

export const STEADY_MS = 10_000;
const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 60_000;
const REMEMBERED = 20;

/** Decides when a program is started again: after pauses that grow to a minute, and short ones again once it has stayed up. */
export function afterEnding({ endings, upMs, at }: Endings): NextStart {
  if (upMs >= STEADY_MS) return { endings: [], pauseMs: FIRST_PAUSE_MS };
  const all = [...endings, at].slice(-REMEMBERED);
  return { endings: all, pauseMs: Math.min(FIRST_PAUSE_MS * 2 ** (all.length - 1), LONGEST_PAUSE_MS) };
}

/** Whether a program ended again and again without having stayed up in between. */
export function isCrashLoop(endings: readonly number[]): boolean {
  return endings.length >= CRASH_LOOP;
}
