import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { docker } from "./docker.ts";

/** Several times what the slowest group takes. */
const LIMIT_MS = 180_000;
const TIDY_MS = 15_000;

/**
 * Runs a group of benchmarks in a separate process and removes everything that it leaves behind: when it has ended, when
 * it hangs, which it says, and when the whole run is interrupted. Returns whether it succeeded.
 */
export async function runApart(names: readonly string[]): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), "slipway-bench-"));
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "run.ts"), "--group", names[0]!], {
    env: { ...process.env, TMPDIR: folder },
    stdio: ["ignore", "inherit", "inherit"],
    detached: true,
  });
  let stopped: string | undefined;
  const stop = (why: string) => {
    if (stopped === undefined) child.kill("SIGTERM");
    stopped ??= why;
    setTimeout(() => child.kill("SIGKILL"), TIDY_MS).unref();
  };
  const limit = setTimeout(() => stop(`it took longer than ${LIMIT_MS / 1_000} s`), LIMIT_MS);
  const interrupt = (signal: string) => stop(`it was interrupted by ${signal}`);
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, interrupt);
  const code = await child.exited;
  clearTimeout(limit);
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.off(signal, interrupt);
  await removeLeft(child.pid, folder);
  if (code === 0 && stopped === undefined) return true;
  console.log(`${names.join(", ")} failed: ${stopped ?? `it ended with code ${code}`}`);
  if (stopped?.includes("interrupted")) process.exit(130);
  return false;
}

/** Kills the processes of a group, and the apps that its servers left running, and removes its containers. */
async function removeLeft(group: number, folder: string): Promise<void> {
  end(-group);
  for (const pid of (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name))) {
    const command = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
    if (command.includes(`${folder}/`)) end(Number(pid));
  }
  const found = await docker(["ps", "--all", "--quiet", "--filter", "name=slipway-bench-"]).catch(() => "");
  const ids = found.split("\n").filter((id) => id !== "");
  if (ids.length > 0) await docker(["rm", "--force", "--volumes", ...ids]).catch(() => {});
  await rm(folder, { recursive: true, force: true });
}

function end(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has exited.
  }
}
