import type { Clock } from "./clock.ts";
import type { IdempotentAnswers } from "./idempotent_answers.ts";
import type { Log } from "./log.ts";
import type { ServiceHealth } from "./service_health.ts";

/** The system ports that the application depends on. */
export interface SystemPorts {
  readonly clock: Clock;
  readonly idempotentAnswers: IdempotentAnswers;
  readonly log: Log;
  readonly serviceHealth: ServiceHealth;
}
