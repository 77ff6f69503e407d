import { loggedError } from "../domain/logged_error.ts";
import type { Log } from "../ports/system/log.ts";

/** Handles unhandled errors of this process. */
export interface FaultHandlers extends Disposable {
  /** Resolves on an uncaught exception: the state of this process may be invalid from then on. */
  readonly broken: Promise<"broken">;
}

/**
 * Logs unhandled errors instead of crashing. An unhandled rejection is one failed piece of work, and the server keeps
 * running; an uncaught exception may have left anything half done, and this process must make room for a new one.
 */
export function handleFaults(log: Log): FaultHandlers {
  const { promise: broken, resolve } = Promise.withResolvers<"broken">();
  const onRejection = (reason: unknown) =>
    log.write("error", "Unhandled rejection; the server continues", {
      ...loggedError(reason),
    });
  const onException = (error: unknown) => {
    log.write("error", "Uncaught exception; the server stops", { ...loggedError(error) });
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
