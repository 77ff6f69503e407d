import { Failure } from "../../domain/failure.ts";
import { Secret } from "../../domain/secret.ts";
import type { Vault } from "../../ports/system/vault.ts";
import type { Database } from "./database.ts";

interface KeyRow {
  readonly key_id: string;
  readonly ordinal: number;
  readonly check_value: string;
}

/**
 * Verifies that the vault has every key that secrets in this database are encrypted with, and records the current key.
 * Rejects with an `unavailable` failure, code `wrong_secret_key`, that names a missing key.
 */
export async function assertKeys(database: Database, vault: Vault): Promise<void> {
  for (;;) {
    const rows = await database.run(
      (sql) => sql<KeyRow[]>`select key_id, ordinal, check_value from vault_keys order by ordinal`,
    );
    for (const row of rows) await openCheck(vault, row);
    if (rows.some(({ key_id }) => key_id === vault.keyId())) return;
    // The unique ordinal serializes processes: the second one sees the first one's key, and must be able to use it.
    if (await noteKey(database, vault, (rows.at(-1)?.ordinal ?? 0) + 1)) return;
  }
}

async function noteKey(database: Database, vault: Vault, ordinal: number): Promise<boolean> {
  const keyId = vault.keyId();
  const checkValue = await vault.seal(new Secret(keyId), placeOf(keyId));
  const { count } = await database.run(
    (sql) => sql`
      insert into vault_keys (key_id, ordinal, check_value, created_at)
      values (${keyId}, ${ordinal}, ${checkValue}, now())
      on conflict do nothing`,
  );
  return count > 0;
}

async function openCheck(vault: Vault, { key_id, check_value }: KeyRow): Promise<void> {
  const opened = await vault.open(check_value, placeOf(key_id)).catch((cause: unknown) => {
    throw wrongKey(key_id, cause);
  });
  if (opened.reveal() !== key_id) throw wrongKey(key_id);
}

function placeOf(keyId: string) {
  return { table: "vault_keys", row: keyId, field: "check_value" };
}

function wrongKey(keyId: string, cause?: unknown): Failure {
  return new Failure(
    "unavailable",
    "wrong_secret_key",
    `Cannot start: the database was sealed with key ${keyId}, which is not configured. Set SLIPWAY_SECRET_KEY (or SLIPWAY_SECRET_KEY_PREVIOUS) to it`,
    cause === undefined ? {} : { cause },
  );
}
