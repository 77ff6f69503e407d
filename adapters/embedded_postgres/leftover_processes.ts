import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { readPostmasterFile } from "./postmaster_file.ts";
import { privileges } from "./program.ts";
import { unavailable } from "./unavailable.ts";

/** Stops every PostgreSQL process that still works on `cluster`, gracefully first, and never any other process. */
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
    const pids = (await processesOn(cluster)).filter((pid) => !postmasterOnly || pid === postmaster);
    pids.forEach((pid) => send(pid, signal));
    if (pids.length > 0 && (await gone(cluster, patience))) break;
  }
  // Its pid may by now belong to another program of the same user, which PostgreSQL would mistake for itself.
  if ((await processesOn(cluster)).length === 0) return await rm(file, { force: true });
  throw unavailable(
    "postgres_stuck",
    "Cannot start the embedded PostgreSQL: a former one on the same data folder does not exit; stop it, or restart the machine",
  );
}

/**
 * Returns the PostgreSQL processes whose working directory is `cluster`, compared by inode: a reused pid never matches.
 */
export async function processesOn(cluster: string): Promise<number[]> {
  const folder = statSync(cluster, { throwIfNoEntry: false });
  const candidates = process.platform === "linux" ? processesNamed("postgres") : [];
  if (!folder || candidates.length === 0) return [];
  // Root without CAP_SYS_PTRACE, as in most containers, may not inspect another user's processes; that user may.
  const owner = process.getuid?.() === 0 && folder.uid !== 0 ? folder : undefined;
  const links = candidates.map((pid) => `/proc/${pid}/cwd`);
  const looking = Bun.spawn([...privileges(owner, "KILL"), "stat", "-L", "-c", "%d:%i %n", ...links], {
    cwd: "/",
    stdio: ["ignore", "pipe", "ignore"],
  });
  const found = (await looking.stdout.text()).split("\n").map((line) => line.split(" "));
  return found
    .filter(([inode]) => inode === `${folder.dev}:${folder.ino}`)
    .map(([, link]) => Number(link?.split("/")[2]));
}

function processesNamed(name: string): string[] {
  return readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/comm`, "utf8").trim() === name;
    } catch {
      return false;
    }
  });
}

async function gone(cluster: string, patience: number): Promise<boolean> {
  for (const end = Date.now() + patience; Date.now() < end; await delay(20)) {
    if ((await processesOn(cluster)).length === 0) return true;
  }
  return false;
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has exited meanwhile, which is what we want.
  }
}
