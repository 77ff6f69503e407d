import type { ServiceHealth } from "../../ports/system/service_health.ts";
import type { Database } from "./database.ts";
import { withTimeout } from "../shared/deadline.ts";

/** For how long a response of the database proves that it answers. */
const PROOF_MS = 500;
/** The age of the last response from which on the database is asked again, in the background. */
const REFRESH_MS = 200;
/** The deadline of that. Together with `PROOF_MS` below a second, after which an outage must be known. */
const PROBE_MS = 450;

/** Health check that knows from other statements whether the database answers, and asks it only when there were none. */
export class PostgresServiceHealth implements ServiceHealth {
  readonly #database: Database;
  #probe: Promise<boolean> | undefined;

  constructor(database: Database) {
    this.#database = database;
  }

  databaseAnswers(): boolean | Promise<boolean> {
    const age = performance.now() - this.#database.answeredAt;
    if (age < REFRESH_MS) return true;
    const asked = (this.#probe ??= this.#ask());
    return age < PROOF_MS || asked;
  }

  async #ask(): Promise<boolean> {
    try {
      await withTimeout(
        PROBE_MS,
        this.#database.run((sql) => sql`select 1`),
      );
      return true;
    } catch {
      // Another statement may have succeeded meanwhile, while this one waited for a connection.
      return performance.now() - this.#database.answeredAt < PROOF_MS;
    } finally {
      this.#probe = undefined;
    }
  }
}
