import type { Failure } from "../../domain/failure.ts";
import { loggedError } from "../../domain/logged_error.ts";
import type { Log } from "../../ports/system/log.ts";
import { RESPONSE_TIMEOUT_MS } from "./response_timeout.ts";

export interface AnswerInTimePorts {
  readonly log: Log;
  /** Response timeout. Defaults to 50 s. */
  readonly answerMs?: number;
}

/**
 * Waits for work up to the response timeout, and then rejects with the failure of `late`. The work continues; if it
 * fails after that, the failure is logged.
 */
export function answerInTime({ log, answerMs = RESPONSE_TIMEOUT_MS }: AnswerInTimePorts) {
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
