import type { ServiceHealth } from "../../ports/system/service_health.ts";
import type { Database } from "./database.ts";
import { withTimeout } from "../shared/deadline.ts";

const MOMENT_MS = 1_000;

/** Health check that queries the database. */
export class PostgresServiceHealth implements ServiceHealth {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async databaseAnswers(): Promise<boolean> {
    const answer = this.#database.run((sql) => sql`select 1`);
    return withTimeout(MOMENT_MS, answer).then(
      () => true,
      () => false,
    );
  }
}
