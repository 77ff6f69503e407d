import type { Failure } from "../../domain/failure.ts";
import { loggedError } from "../../domain/logged_error.ts";
import type { Log } from "../../ports/system/log.ts";

/** Shorter than the idle timeout of a connection, so that a waiting client gets a response before it is closed. */
const ANSWER_MS = 50_000;

export interface AnswerInTimePorts {
  readonly log: Log;
  /** Response timeout. Defaults to 50 s. */
  readonly answerMs?: number;
}

/**
 * Waits for work up to the response timeout, and then rejects with the failure of `late`. The work continues; if it
 * fails after that, the failure is logged.
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
      if (isLate) log.write("warn", "Could not finish what a request started", { ...loggedError(error) });
    });
    return Promise.race([work, limit.promise]).finally(() => clearTimeout(timer));
  };
}
