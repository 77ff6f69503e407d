import { readFile } from "node:fs/promises";
import { run } from "./command.ts";

const SOURCE = "slipway-tests-";
const PLENTY_KB = 8 * 1_024 * 1_024;

/**
 * Mounts an in-memory file system on a folder if this user may and the machine has memory to spare, because it takes
 * less CPU time than a disk. Disposal unmounts it.
 */
export async function memoryFolder(folder: string): Promise<AsyncDisposable> {
  const options = ["-t", "tmpfs", "-o", "size=50%,mode=0711", `${SOURCE}${process.pid}`];
  const isMounted = (await availableKb()) > PLENTY_KB && (await run(["mount", ...options, folder])).ok;
  return { [Symbol.asyncDispose]: async () => void (isMounted && (await unmount(folder))) };
}

/** Unmounts what killed runs have left. */
export async function removeLeftMemoryFolders(): Promise<void> {
  const mounts = (await readFile("/proc/mounts", "utf8").catch(() => "")).split("\n").map((line) => line.split(" "));
  for (const [source = "", folder = ""] of mounts) {
    if (source.startsWith(SOURCE) && !isAlive(Number(source.slice(SOURCE.length)))) await unmount(folder);
  }
}

async function availableKb(): Promise<number> {
  const text = await readFile("/proc/meminfo", "utf8").catch(() => "");
  return Number(/^MemAvailable: +(\d+) kB$/m.exec(text)?.[1] ?? 0);
}

/** Lazily, because a process that is being killed may still use it. */
async function unmount(folder: string): Promise<void> {
  await run(["umount", "--lazy", folder]);
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
