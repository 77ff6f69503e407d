import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { endProcesses, endProcessesIn } from "../tests/support/runner/run_group.ts";
import { drop, dropLabelled, listed } from "./docker.ts";

/** Several times what the slowest group takes. */
const LIMIT_MS = 180_000;
const TIDY_MS = 15_000;

/**
 * Runs a group of benchmarks in a separate process and removes everything that it leaves behind: when it has ended, when
 * it hangs, which it says, and when the whole run is interrupted. Returns whether it succeeded.
 */
export async function runApart(names: readonly string[]): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), "slipway-bench-"));
  const before = await installations();
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
  endProcesses(child.pid);
  // The apps that its servers left running.
  await endProcessesIn(folder);
  await rm(folder, { recursive: true, force: true });
  await removeContainers(before);
  if (code === 0 && stopped === undefined) return true;
  console.log(`${names.join(", ")} failed: ${stopped ?? `it ended with code ${code}`}`);
  if (stopped?.includes("interrupted")) process.exit(130);
  return false;
}

const INSTALLATION = "slipway.installation";

/** The installations that have containers, networks or images. */
async function installations(): Promise<ReadonlySet<string>> {
  const format = ["--filter", `label=${INSTALLATION}`, "--format", `{{.Label "${INSTALLATION}"}}`];
  const lists = [
    ["ps", "--all"],
    ["network", "ls"],
    ["volume", "ls"],
  ].map((words) => listed([...words, ...format]));
  return new Set((await Promise.all(lists)).flat());
}

/** Removes what benchmarks made by hand, and everything of installations that were not there before. */
async function removeContainers(before: ReadonlySet<string>): Promise<void> {
  await drop(["ps", "--all", "--quiet", "--filter", "name=slipway-bench-"], ["rm", "--force", "--volumes"]);
  await drop(["network", "ls", "--quiet", "--filter", "name=slipway-bench-"], ["network", "rm"]);
  for (const installation of await installations()) {
    if (before.has(installation)) continue;
    await dropLabelled(`${INSTALLATION}=${installation}`);
  }
}
