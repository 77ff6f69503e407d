import { clusterPath } from "./cluster.ts";
import { connectionUrl, readConnectionRecord } from "./connection_record.ts";
import { processesOn } from "./leftover_processes.ts";
import { readPostmasterFile } from "./postmaster_file.ts";
import { folderUnusable } from "./unavailable.ts";

/** Returns the URL of the PostgreSQL that another process runs on this data folder; `undefined` if none is running. */
export async function runningEmbeddedPostgres(folder: string): Promise<string | undefined> {
  const record = await readConnectionRecord(folder).catch((error: unknown) => {
    throw folderUnusable(error);
  });
  const cluster = clusterPath(folder);
  const file = await readPostmasterFile(cluster);
  if (!record || !file?.ready || file.port !== record.port) return undefined;
  return process.platform !== "linux" || (await processesOn(cluster)).includes(file.pid)
    ? connectionUrl(record)
    : undefined;
}
