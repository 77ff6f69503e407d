import { mkdir, readFile, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { run, say } from "./command.ts";

const LOG = new URL("../../../.tools/dockerd.log", import.meta.url).pathname;
const PID = new URL("../../../.tools/dockerd.pid", import.meta.url).pathname;
const READY_WITHIN = 60_000;
const STOP_WITHIN = 30_000;

/**
 * Ensures that a Docker Engine responds, starting the installed one if possible. Disposal stops an engine started here.
 */
export async function dockerEngine(): Promise<AsyncDisposable> {
  if (await dockerAnswers()) return { async [Symbol.asyncDispose]() {} };
  if (process.getuid?.() !== 0) {
    throw new Error("Cannot run these tests: no Docker Engine answers; start Docker, or use bin/test --fast");
  }
  return (await startDaemon([])) ?? (await startDaemon(["--storage-driver=vfs"])) ?? (await giveUp());
}

/** Returns whether the machine's Docker Engine responds. */
export async function dockerAnswers(): Promise<boolean> {
  return (await run(["docker", "version"], { timeout: 20_000 })).ok;
}

/** Returns whether a Docker Engine responds at an address. */
export async function dockerAt(host: string): Promise<boolean> {
  return (await run(["docker", "--host", host, "version"], { timeout: 20_000 })).ok;
}

async function startDaemon(options: readonly string[]): Promise<AsyncDisposable | undefined> {
  say(`Starting Docker ${options.join(" ")}…`);
  await mkdir(dirname(PID), { recursive: true });
  await rm(PID, { force: true });
  // The parent-death signal keeps a killed run from leaving the daemon behind.
  const command = ["setpriv", "--pdeathsig=TERM", "--", "dockerd", `--pidfile=${PID}`, ...options];
  const daemon = Bun.spawn(command, { detached: true, stdio: ["ignore", "ignore", Bun.file(LOG)] });
  const stop = async () => {
    daemon.kill("SIGTERM");
    const limit = setTimeout(() => daemon.kill("SIGKILL"), STOP_WITHIN);
    await daemon.exited;
    clearTimeout(limit);
  };
  for (const end = Date.now() + READY_WITHIN; Date.now() < end && daemon.exitCode === null; await Bun.sleep(200)) {
    if (!(await dockerAnswers())) continue;
    await fixBridge();
    return {
      async [Symbol.asyncDispose]() {
        say("Stopping Docker …");
        await stop();
      },
    };
  }
  await stop();
  return undefined;
}

/**
 * Sets a fixed MAC address on Docker's bridge. Otherwise it takes the lowest address of its containers, and when that
 * container is removed, the others lose their connections for seconds.
 */
async function fixBridge(): Promise<void> {
  await run(["ip", "link", "set", "docker0", "address", "02:42:ac:11:00:01"]);
}

async function giveUp(): Promise<never> {
  const log = await readFile(LOG, "utf8").catch(() => "");
  const lines = log.trim().split("\n");
  throw new Error(`Cannot start Docker: ${lines.findLast((line) => /fail|fatal|error/i.test(line)) ?? lines.at(-1)}`);
}
