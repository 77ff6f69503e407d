import { CryptoVault } from "../../../adapters/crypto/vault.ts";
import { keyringOf, newKeyText } from "../../../adapters/crypto/keyring.ts";
import type { Database } from "../../../adapters/postgres/database.ts";
import { migrate } from "../../../adapters/postgres/migrate.ts";
import {
  type PostgresWorld,
  postgresWorld,
  type PostgresWorldOptions,
} from "../../../adapters/postgres/postgres_world.ts";
import { type TestDatabase, testDatabase } from "./test_database.ts";

/** A database with all tables, all of them empty. */
export function migratedDatabase(): Promise<TestDatabase> {
  return testDatabase({ prepare: migrateOnce });
}

/** A single function, so that all tests copy one template. */
function migrateOnce(url: string): Promise<void> {
  return migrate(url);
}

/** A vault with random or given keys. It encrypts with the first one. */
export async function vaultOf(first = newKeyText(), ...previous: readonly string[]): Promise<CryptoVault> {
  const named = previous.map((text) => ({ text, origin: "a test" }));
  return new CryptoVault(await keyringOf([{ text: first, origin: "a test" }, ...named]));
}

/** Opens the stores on a database; resolves once change notifications arrive. */
export async function openStores(
  options: Partial<PostgresWorldOptions> & Pick<PostgresWorldOptions, "url">,
): Promise<PostgresWorld> {
  const world = await postgresWorld({ usesMs: 50, ...options, vault: options.vault ?? (await vaultOf()) });
  await world.signals.whenLive();
  return world;
}

/** Shifts all times that the database's clock decides into the past, as if `ms` had elapsed. */
export async function setBack(database: Database, ms: number): Promise<void> {
  const columns = {
    deployments: ["lease_until", "queued_at", "answer_due"],
    upload_sessions: ["lease_until", "expires_at"],
    attempts: ["ends_at"],
    idempotent_answers: ["at", "lease_until"],
    webhook_deliveries: ["claimed_at"],
    commit_reports: ["due_at", "lease_until"],
    pull_requests: ["due_at", "lease_until"],
    certificate_orders: ["due_at", "claimed_until"],
  };
  for (const [table, names] of Object.entries(columns)) {
    const set = names.map((name) => `${name} = ${name} - interval '${ms} milliseconds'`).join(", ");
    await database.run((sql) => sql.unsafe(`update ${table} set ${set}`));
  }
}
