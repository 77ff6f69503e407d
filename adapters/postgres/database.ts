import postgres from "postgres";
import { Failure, invalid } from "../../domain/failure.ts";
import { connectionOptions } from "./connection_options.ts";
import { databaseFailure, violatedConstraint } from "./database_failure.ts";
import { errorCode } from "../shared/error_code.ts";

/** A connection pool that builds statements from template literals. */
export type Sql = postgres.Sql<Record<string, unknown>>;

/** Maps names of violated constraints to functions that return the result (or throw) instead of the database error. */
export type Refusals<T> = Readonly<Record<string, () => T>>;

export interface DatabaseOptions {
  /** Maximum number of connections. */
  readonly max?: number;
  /** Called with the text of every statement that is sent. For tests. */
  readonly onStatement?: (text: string) => void;
  /** Timeout of a statement, in milliseconds, after which its connection counts as dead. */
  readonly limitMs?: number;
}

/** The only access to PostgreSQL. Statements fail within seconds during an outage and work again once it is over. */
export interface Database {
  /** The current pool. A broken pool is replaced, so do not keep a reference. */
  readonly sql: Sql;
  /** When a statement last succeeded, as `performance.now()`; `-Infinity` if the last one found the database away. */
  readonly answeredAt: number;
  /** Changes whenever a connection was lost: the next one may lead to another server, or to one that was restored. */
  readonly epoch: number;
  /** Runs one statement. Errors are thrown as failures; violated constraints are handled by `refusals`. */
  run<T>(work: (sql: Sql) => PromiseLike<T>, refusals?: Refusals<T>): Promise<T>;
  /** Closes every connection within two seconds. */
  close(): Promise<void>;
}

const MAX_CONNECTIONS = 10;
const LIMIT_MS = 8_000;
const CHECK_MS = 500;
const BROKEN = new Set(["CONNECTION_CLOSED", "CONNECT_TIMEOUT", "ECONNRESET", "EPIPE", "ERR_SOCKET_CLOSED"]);

/** Creates the database client. It connects lazily, with the first statement. */
export function openDatabase(url: string, options: DatabaseOptions = {}): Database {
  return new PooledDatabase(url, options);
}

class PooledDatabase implements Database {
  readonly #open: () => Sql;
  readonly #limitMs: number;
  readonly #running = new Set<{ readonly pool: Sql; readonly since: number }>();
  readonly #watch: ReturnType<typeof setInterval>;
  #pool: Sql;
  #closed = false;
  #answeredAt = -Infinity;
  #epoch = 0;

  constructor(url: string, options: DatabaseOptions) {
    this.#limitMs = options.limitMs ?? LIMIT_MS;
    this.#open = () => openPool(url, { ...options, onLost: () => this.#epoch++ }, this.#limitMs);
    this.#pool = this.#open();
    this.#watch = setInterval(() => this.#replaceStalled(), Math.min(CHECK_MS, this.#limitMs));
    this.#watch.unref();
  }

  get sql(): Sql {
    return this.#pool;
  }

  get answeredAt(): number {
    return this.#answeredAt;
  }

  get epoch(): number {
    return this.#epoch;
  }

  async run<T>(work: (sql: Sql) => PromiseLike<T>, refusals?: Refusals<T>): Promise<T> {
    const pool = this.#pool;
    const call = { pool, since: performance.now() };
    this.#running.add(call);
    try {
      const result = await work(pool);
      this.#answeredAt = performance.now();
      return result;
    } catch (error) {
      this.#running.delete(call);
      if (BROKEN.has(errorCode(error))) this.#replace(pool);
      const refusal = refusals?.[violatedConstraint(error) ?? ""];
      if (refusal) return refusal();
      const failure = databaseFailure(error);
      if (failure instanceof Failure && failure.code === "database_away") this.#answeredAt = -Infinity;
      throw failure;
    } finally {
      this.#running.delete(call);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#watch);
    await this.#pool.end({ timeout: 2 });
  }

  /**
   * Replaces a broken pool as a whole: postgres.js can leave a connection that closed at a bad moment unable to send
   * ever again, and it never gives up on one that goes silent or whose peer accepts and hangs up. Statements that still
   * run on the old pool get the time left until the timeout of the oldest one.
   */
  #replace(pool: Sql): void {
    if (pool !== this.#pool || this.#closed) return;
    this.#pool = this.#open();
    const oldest = this.#running.values().find((call) => call.pool === pool);
    const leftMs = oldest ? Math.max(0, oldest.since + this.#limitMs - performance.now()) : 0;
    void pool.end({ timeout: leftMs / 1_000 }).catch(() => {});
  }

  #replaceStalled(): void {
    const late = performance.now() - this.#limitMs;
    for (const { pool, since } of this.#running) {
      if (since > late) return;
      this.#replace(pool);
    }
  }
}

function openPool(
  url: string,
  { max = MAX_CONNECTIONS, onStatement, onLost }: DatabaseOptions & { readonly onLost: () => void },
  limitMs: number,
): Sql {
  try {
    return postgres(url, {
      ...connectionOptions(url),
      max,
      onclose: onLost,
      debug: onStatement ? (_connection, text) => onStatement(text) : false,
      connection: {
        application_name: "slipway",
        DateStyle: "ISO",
        default_transaction_isolation: "read committed",
        // The server times out first, so that a statement over the limit means a dead connection.
        statement_timeout: Math.round(limitMs * 0.9),
      },
    }) as unknown as Sql;
  } catch (cause) {
    throw invalid(
      "invalid_database_url",
      "Cannot use DATABASE_URL: give an address like postgres://user:password@host:5432/name",
      { cause },
    );
  }
}
