import type { StepName } from "../../../domain/deployments/deployment.ts";
import { LeaseLost } from "./hold.ts";
import { isOutage, logLine, type Run, StepFailed } from "./run.ts";

interface TidyUpOptions {
  readonly tasks: readonly (() => unknown)[];
  /** What is removed, for the log. */
  readonly what: string;
  /** The step that it belongs to. */
  readonly at?: StepName;
}

/** Runs cleanup tasks in order. A failure is only logged, because the sweep retries, unless the next run has to. */
export async function tidyUp(run: Run, { tasks, what, at }: TidyUpOptions): Promise<void> {
  for (const task of tasks) {
    try {
      await task();
    } catch (error) {
      const cause = error instanceof StepFailed ? error.cause : error;
      if (isOutage(cause) || cause instanceof LeaseLost) throw error;
      logLine(run, at ?? null, `Some parts of ${what} could not be removed; this is retried later`, "warn");
    }
  }
}
