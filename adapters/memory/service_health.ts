import type { ServiceHealth } from "../../ports/service_health.ts";

/** Answers as told. */
export class MemoryServiceHealth implements ServiceHealth {
  /** What `databaseAnswers` says. */
  answers = true;

  async databaseAnswers(): Promise<boolean> {
    return this.answers;
  }
}
