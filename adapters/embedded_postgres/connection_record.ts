import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** How the embedded PostgreSQL of a data folder is reached. */
export interface ConnectionRecord {
  readonly port: number;
  readonly password: string;
}

export const USER = "slipway";
export const DATABASE = "slipway";

/** The record in a data folder, or `undefined` when there is none that can be used. */
export async function readConnectionRecord(folder: string): Promise<ConnectionRecord | undefined> {
  const text = await readFile(join(folder, "postgres.json"), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "null";
    throw error;
  });
  try {
    const { port, password } = JSON.parse(text) as Record<string, unknown>;
    return typeof port === "number" && typeof password === "string" ? { port, password } : undefined;
  } catch {
    return undefined;
  }
}

/** Replaces the record in one step; only this user may read it. */
export async function writeConnectionRecord(folder: string, record: ConnectionRecord): Promise<void> {
  const part = join(folder, "postgres.json.part");
  await writeFile(part, `${JSON.stringify(record)}\n`, { mode: 0o600 });
  await rename(part, join(folder, "postgres.json"));
}

/** The address that `record` stands for. */
export function connectionUrl({ port, password }: ConnectionRecord): string {
  return `postgres://${USER}:${password}@127.0.0.1:${port}/${DATABASE}`;
}
