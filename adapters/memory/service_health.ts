import type { ServiceHealth } from "../../ports/system/service_health.ts";

/** A health check with a configurable result. */
export class MemoryServiceHealth implements ServiceHealth {
  /** The result of `databaseAnswers`. */
  answers = true;

  async databaseAnswers(): Promise<boolean> {
    return this.answers;
  }
}
