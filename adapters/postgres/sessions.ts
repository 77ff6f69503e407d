import type { Session, Sessions } from "../../ports/identity/sessions.ts";
import type { Database } from "./database.ts";
import type { PostgresSignals } from "./signals.ts";

/** Stores login sessions, with the fingerprints of their tokens, in PostgreSQL. */
export class PostgresSessions implements Sessions {
  readonly #database: Database;
  readonly #signals: PostgresSignals;

  constructor(database: Database, signals: PostgresSignals) {
    this.#database = database;
    this.#signals = signals;
  }

  async create({ id, userId, createdAt, expiresAt }: Session, fingerprint: string): Promise<void> {
    await this.#database.run(
      (sql) => sql`
        insert into sessions (id, user_id, fingerprint, created_at, expires_at)
        values (${id}, ${userId}, ${fingerprint}, ${createdAt}, ${expiresAt})`,
    );
  }

  async end(id: string): Promise<void> {
    await this.#database.run((sql) => sql`delete from sessions where id = ${id}`);
    await this.#signals.settled();
  }

  async endOthers(userId: string, keepId: string | null): Promise<void> {
    await this.#database.run(
      (sql) => sql`delete from sessions where user_id = ${userId} and id is distinct from ${keepId}`,
    );
    await this.#signals.settled();
  }

  async sweep(before: Date): Promise<number> {
    const { count } = await this.#database.run((sql) => sql`delete from sessions where expires_at < ${before}`);
    return count;
  }
}
