import { CryptoVault } from "../../adapters/crypto/vault.ts";
import { keyringOf, newKeyText } from "../../adapters/crypto/keyring.ts";
import { migrate } from "../../adapters/postgres/migrate.ts";
import {
  type PostgresWorld,
  postgresWorld,
  type PostgresWorldOptions,
} from "../../adapters/postgres/postgres_world.ts";
import { type TestDatabase, testDatabase } from "./test_database.ts";

/** A database with all tables and nothing in them. */
export function migratedDatabase(): Promise<TestDatabase> {
  return testDatabase({ prepare: migrateOnce });
}

/** One function, so that all tests copy one template. */
function migrateOnce(url: string): Promise<void> {
  return migrate(url);
}

/** A vault with random keys, or with the given ones, the first of which seals. */
export async function vaultOf(first = newKeyText(), ...previous: readonly string[]): Promise<CryptoVault> {
  const named = previous.map((text) => ({ text, origin: "a test" }));
  return new CryptoVault(await keyringOf([{ text: first, origin: "a test" }, ...named]));
}

/** Opens the stores over a database, told of changes from the first moment on. */
export async function openStores(
  options: Partial<PostgresWorldOptions> & Pick<PostgresWorldOptions, "url">,
): Promise<PostgresWorld> {
  const world = await postgresWorld({ usesMs: 50, ...options, vault: options.vault ?? (await vaultOf()) });
  await world.signals.whenLive();
  return world;
}
