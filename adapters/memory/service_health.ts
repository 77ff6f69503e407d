import type { ServiceHealth } from "../../ports/system/service_health.ts";

/** Answers as told. */
export class MemoryServiceHealth implements ServiceHealth {
  /** What `databaseAnswers` says. */
  answers = true;

  async databaseAnswers(): Promise<boolean> {
    return this.answers;
  }
}
