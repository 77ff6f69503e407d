import { loggedError } from "../domain/logged_error.ts";
import type { Log } from "../ports/system/log.ts";

/** What faults of this process are watched with. */
export interface FaultHandlers extends Disposable {
  /** Resolves when something threw that nobody caught: what this process knows may not be true any more. */
  readonly broken: Promise<"broken">;
}

/**
 * Logs what nobody handled instead of having it end the process. One rejected promise is one piece of work that failed, and the rest goes on;
 * an exception from nowhere may have left anything half done, and this process has to make room for a new one.
 */
export function handleFaults(log: Log): FaultHandlers {
  const { promise: broken, resolve } = Promise.withResolvers<"broken">();
  const onRejection = (reason: unknown) =>
    log.write("error", "Something failed and nobody was there to handle it; the server goes on", {
      ...loggedError(reason),
    });
  const onException = (error: unknown) => {
    log.write("error", "Something threw and nobody caught it; the server stops", { ...loggedError(error) });
    resolve("broken");
  };
  process.on("unhandledRejection", onRejection);
  process.on("uncaughtException", onException);
  return {
    broken,
    [Symbol.dispose]() {
      process.off("unhandledRejection", onRejection);
      process.off("uncaughtException", onException);
    },
  };
}
