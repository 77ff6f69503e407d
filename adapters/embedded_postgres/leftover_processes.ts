import { existsSync, readdirSync, readlinkSync, statSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { readPostmasterFile } from "./postmaster_file.ts";
import { unavailable } from "./unavailable.ts";

/** Ends every PostgreSQL process that still works on `cluster`, gently first, and never any other process. */
export async function stopLeftovers(cluster: string): Promise<void> {
  const file = join(cluster, "postmaster.pid");
  if (process.platform !== "linux" || !existsSync(file)) return;
  const postmaster = (await readPostmasterFile(cluster))?.pid;
  const steps: [NodeJS.Signals, number, boolean][] = [
    ["SIGINT", 10_000, true],
    ["SIGQUIT", 5_000, false],
    ["SIGKILL", 5_000, false],
  ];
  for (const [signal, patience, postmasterOnly] of steps) {
    const pids = processesOn(cluster).filter((pid) => !postmasterOnly || pid === postmaster);
    pids.forEach((pid) => send(pid, signal));
    if (pids.length > 0 && (await gone(cluster, patience))) break;
  }
  // Its pid may by now belong to another program of the same user, which PostgreSQL would take for itself.
  if (processesOn(cluster).length === 0) return await rm(file, { force: true });
  throw unavailable(
    "postgres_stuck",
    "Cannot start the embedded PostgreSQL: a former one on the same data folder does not end; end it, or restart the machine",
  );
}

/** The processes of PostgreSQL whose working folder is `cluster`, by inode: a reused pid is never one of them. */
export function processesOn(cluster: string): number[] {
  const folder = statSync(cluster, { throwIfNoEntry: false });
  if (process.platform !== "linux" || !folder) return [];
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const { dev, ino } = statSync(`/proc/${pid}/cwd`);
        return (
          dev === folder.dev &&
          ino === folder.ino &&
          /\/postgres( \(deleted\))?$/.test(readlinkSync(`/proc/${pid}/exe`))
        );
      } catch {
        return false;
      }
    })
    .map(Number);
}

async function gone(cluster: string, patience: number): Promise<boolean> {
  for (const end = Date.now() + patience; Date.now() < end; await delay(10)) {
    if (processesOn(cluster).length === 0) return true;
  }
  return false;
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended in the meantime, which is what was wanted.
  }
}
