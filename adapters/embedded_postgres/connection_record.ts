import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { unlessMissing } from "../shared/error_code.ts";

/** The port and password of the embedded PostgreSQL in a data folder. */
export interface ConnectionRecord {
  readonly port: number;
  readonly password: string;
}

export const USER = "slipway";
export const DATABASE = "slipway";

/** Reads the record of a data folder; `undefined` if it is missing or invalid. */
export async function readConnectionRecord(folder: string): Promise<ConnectionRecord | undefined> {
  const text = await readFile(join(folder, "postgres.json"), "utf8").catch(unlessMissing);
  try {
    const { port, password } = JSON.parse(text ?? "null") as Record<string, unknown>;
    return typeof port === "number" && typeof password === "string" ? { port, password } : undefined;
  } catch {
    return undefined;
  }
}

/** Replaces the record atomically; only its owner may read it. */
export async function writeConnectionRecord(folder: string, record: ConnectionRecord): Promise<void> {
  const part = join(folder, "postgres.json.part");
  await writeFile(part, `${JSON.stringify(record)}\n`, { mode: 0o600 });
  await rename(part, join(folder, "postgres.json"));
}

/** The connection URL of a record. */
export function connectionUrl({ port, password }: ConnectionRecord): string {
  return `postgres://${USER}:${password}@127.0.0.1:${port}/${DATABASE}`;
}
