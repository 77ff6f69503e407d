import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { conflict } from "../../domain/failure.ts";
import { tryLock } from "../shared/file_lock.ts";

/** Locks the data folder until disposed or the process dies; throws, naming the process that holds the lock already. */
export function lockFolder(folder: string): Disposable {
  const file = join(folder, "postgres.lock");
  const fd = openSync(file, "a+", 0o600);
  // The kernel releases the lock with the process, so a kill leaves no stale lock, and reused pids do not matter.
  if (!tryLock(fd, "exclusive")) {
    closeSync(fd);
    throw conflict(
      "data_folder_in_use",
      `Cannot start: the data folder is in use by ${holder(file)}; stop it, or set SLIPWAY_DATA to another folder`,
    );
  }
  ftruncateSync(fd);
  writeSync(fd, JSON.stringify({ pid: process.pid, since: new Date().toISOString() }), 0);
  return { [Symbol.dispose]: () => closeSync(fd) };
}

function holder(file: string): string {
  try {
    const { pid, since } = JSON.parse(readFileSync(file, "utf8")) as { pid: number; since: string };
    return `process ${pid} (a server running since ${since})`;
  } catch {
    return "another process";
  }
}
