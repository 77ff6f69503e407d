import { Secret } from "../../domain/secret.ts";
import type { Claim, IdempotentAnswers, IdempotentRequest, KeptAnswer } from "../../ports/system/idempotent_answers.ts";
import type { Vault } from "../../ports/system/vault.ts";
import { boundedKey } from "./bounded_key.ts";
import type { Database } from "./database.ts";
import { milliseconds } from "./milliseconds.ts";
import { SEALED_COLUMNS, sealedPlace } from "./sealed_columns.ts";

interface AnswerRow {
  readonly claim_id: string;
  readonly route: string;
  readonly body: string | null;
  readonly status: number | null;
  readonly answer: string | null;
}

const KEPT_MS = 24 * 3_600_000;

/** Stores responses of idempotent requests in PostgreSQL, encrypted. */
export class PostgresIdempotentAnswers implements IdempotentAnswers {
  readonly #database: Database;
  readonly #vault: Vault;

  constructor(database: Database, vault: Vault) {
    this.#database = database;
    this.#vault = vault;
  }

  async claim(request: IdempotentRequest, leaseMs: number): Promise<Claim> {
    const claimId = crypto.randomUUID();
    const bounded = { ...request, key: boundedKey(request.key), caller: boundedKey(request.caller) };
    for (;;) {
      if (await this.#take(claimId, bounded, leaseMs)) return { state: "mine", claimId };
      const row = await this.#find(bounded);
      // The claim was released between the two statements, so it can be taken now.
      if (!row) continue;
      if (differs(row, request)) return { state: "other_request" };
      if (row.status === null) return { state: "running" };
      const answer = await this.#vault.open(row.answer ?? "", placeOf(row.claim_id));
      return { state: "answered", body: row.body ?? "", answer: { status: row.status, body: answer.reveal() } };
    }
  }

  async renew(claimId: string, leaseMs: number): Promise<void> {
    await this.#database.run(
      (sql) => sql`
        update idempotent_answers set at = now(), lease_until = now() + ${milliseconds(sql, leaseMs)}
        where claim_id = ${claimId} and status is null`,
    );
  }

  async keep(claimId: string, body: string, answer: KeptAnswer): Promise<void> {
    const sealed = await this.#vault.seal(new Secret(answer.body), placeOf(claimId));
    await this.#database.run(
      (sql) => sql`
        update idempotent_answers set body = ${body}, status = ${answer.status}, answer = ${sealed}
        where claim_id = ${claimId} and status is null`,
    );
  }

  async release(claimId: string): Promise<void> {
    await this.#database.run(
      (sql) => sql`delete from idempotent_answers where claim_id = ${claimId} and status is null`,
    );
  }

  async sweep(ageMs: number): Promise<number> {
    const [row] = await this.#database.run(
      (sql) => sql<{ count: number }[]>`
        with old as (
          delete from idempotent_answers
          where at < now() - ${milliseconds(sql, ageMs)}
            and (status is not null or lease_until < now() - ${milliseconds(sql, ageMs)})
          returning status
        )
        select count(status) as count from old`,
    );
    return row?.count ?? 0;
  }

  async #take(claimId: string, request: IdempotentRequest, leaseMs: number): Promise<boolean> {
    const { caller, key, route, body } = request;
    const { count } = await this.#database.run(
      (sql) => sql`
        insert into idempotent_answers as known (caller, key, claim_id, route, body, at, lease_until)
        values (${caller}, ${key}, ${claimId}, ${route}, ${body}, now(), now() + ${milliseconds(sql, leaseMs)})
        on conflict (caller, key) do update set
          claim_id = excluded.claim_id, route = excluded.route, body = excluded.body, at = excluded.at,
          lease_until = excluded.lease_until, status = null, answer = null
        where case when known.status is null then known.lease_until <= now()
          else known.at < now() - ${milliseconds(sql, KEPT_MS)} end`,
    );
    return count > 0;
  }

  async #find({ caller, key }: IdempotentRequest): Promise<AnswerRow | undefined> {
    const [row] = await this.#database.run(
      (sql) => sql<AnswerRow[]>`
        select claim_id, route, body, status, answer from idempotent_answers where caller = ${caller} and key = ${key}`,
    );
    return row;
  }
}

function differs(known: AnswerRow, { route, body }: IdempotentRequest): boolean {
  return known.route !== route || (known.body !== null && body !== null && known.body !== body);
}

function placeOf(claimId: string) {
  return sealedPlace(SEALED_COLUMNS.keptAnswer, claimId);
}
