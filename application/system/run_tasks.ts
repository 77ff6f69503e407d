/** Where the failures of tasks go, and what ends them. */
export interface RunTasksOptions {
  /** Called with the error of a task that failed. */
  readonly failed: (error: unknown) => void;
  /** Aborts when the process stops. */
  readonly signal: AbortSignal;
}

/**
 * Returns a function that runs tasks one after the other; the failure of one does not stop the others. Once the process
 * stops, none begins, and none that fails is reported: it lost what it works on, and the next process repeats it.
 */
export function runTasks(tasks: readonly (() => Promise<unknown>)[], { failed, signal }: RunTasksOptions) {
  return async function (): Promise<void> {
    for (const task of tasks) {
      if (signal.aborted) return;
      await task().catch((error: unknown) => {
        if (!signal.aborted) failed(error);
      });
    }
  };
}
