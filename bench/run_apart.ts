import { mkdtemp, rm, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { endProcesses, endProcessesIn } from "../tests/support/runner/run_group.ts";
import { TEST_LABEL } from "../tests/support/runner/test_leftovers.ts";
import { drop, dropLabelled, listed } from "./docker.ts";

/** Several times what the slowest group takes. */
const LIMIT_MS = 180_000;
const TIDY_MS = 15_000;

const MEMORY = "/dev/shm";
const ENOUGH_BYTES = 4 * 2 ** 30;

/** Where a group puts its files: in memory, if it asks for that and there is enough. */
async function place(inMemory: boolean): Promise<string> {
  const memory = inMemory ? await statfs(MEMORY).catch(() => undefined) : undefined;
  return memory && memory.bavail * memory.bsize > ENOUGH_BYTES ? MEMORY : tmpdir();
}

/**
 * Runs a group of benchmarks in a separate process and removes everything that it leaves behind: when it has ended, when
 * it hangs, which it says, and when the whole run is interrupted. Returns whether it succeeded.
 */
export async function runApart(names: readonly string[], { inMemory = false } = {}): Promise<boolean> {
  const folder = await mkdtemp(join(await place(inMemory), "slipway-bench-"));
  const before = { installations: await installations(), peers: await peers() };
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

const PEER = ["--quiet", "--filter", `label=${TEST_LABEL}`];

/** The containers and networks of servers that benchmarks talk to. */
async function peers(): Promise<ReadonlySet<string>> {
  const lists = await Promise.all([listed(["ps", "--all", ...PEER]), listed(["network", "ls", ...PEER])]);
  return new Set(lists.flat());
}

/** Removes what benchmarks made by hand, and everything of installations and peers that were not there before. */
async function removeContainers(before: Record<"installations" | "peers", ReadonlySet<string>>): Promise<void> {
  await drop(["ps", "--all", "--quiet", "--filter", "name=slipway-bench-"], ["rm", "--force", "--volumes"]);
  await drop(["network", "ls", "--quiet", "--filter", "name=slipway-bench-"], ["network", "rm"]);
  await drop(["ps", "--all", ...PEER], ["rm", "--force", "--volumes"], before.peers);
  await drop(["network", "ls", ...PEER], ["network", "rm"], before.peers);
  for (const installation of (await installations()).difference(before.installations)) {
    await dropLabelled(`${INSTALLATION}=${installation}`);
  }
}
