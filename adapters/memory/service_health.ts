import type { ServiceHealth } from "../../ports/system/service_health.ts";

/** A health check with a configurable result. */
export class MemoryServiceHealth implements ServiceHealth {
  /** The result of `databaseAnswers`. */
  answers = true;

  databaseAnswers(): boolean {
    return this.answers;
  }
}
