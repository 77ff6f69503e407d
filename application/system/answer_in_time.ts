import type { Failure } from "../../domain/failure.ts";
import { loggedError } from "../../domain/logged_error.ts";
import type { Log } from "../../ports/system/log.ts";

/** Shorter than a connection may stay silent: whoever waits gets an answer before it is closed. */
const ANSWER_MS = 50_000;

export interface AnswerInTimePorts {
  readonly log: Log;
  /** How long an answer may take. Defaults to 50 s. */
  readonly answerMs?: number;
}

/**
 * Waits for work as long as an answer may take, and then rejects with what `late` says; the work goes on, and if it
 * fails then, the log tells.
 */
export function answerInTime({ log, answerMs = ANSWER_MS }: AnswerInTimePorts) {
  return async function <T>(work: Promise<T>, late: () => Failure): Promise<T> {
    const limit = Promise.withResolvers<never>();
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      limit.reject(late());
    }, answerMs);
    work.catch((error: unknown) => {
      if (isLate) log.write("warn", "What a request began could not be finished", { ...loggedError(error) });
    });
    return Promise.race([work, limit.promise]).finally(() => clearTimeout(timer));
  };
}
