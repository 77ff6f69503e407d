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
  /** `undefined` when it is given up. */
  readonly pauseMs: number | undefined;
}

export const STEADY_MS = 10_000;
const WINDOW_MS = 30_000;
const LIMIT = 5;
const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 10_000;

/** Decides when a program is started again: later and later, and never once it ended five times in thirty seconds. */
export function afterEnding({ endings, upMs, at }: Endings): NextStart {
  if (upMs >= STEADY_MS) return { endings: [], pauseMs: FIRST_PAUSE_MS };
  const all = [...endings, at].slice(-20);
  const lately = all.filter((time) => at - time <= WINDOW_MS);
  if (lately.length >= LIMIT) return { endings: all, pauseMs: undefined };
  return { endings: all, pauseMs: Math.min(FIRST_PAUSE_MS * 2 ** (all.length - 1), LONGEST_PAUSE_MS) };
}
