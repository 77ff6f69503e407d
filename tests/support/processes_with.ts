import { readdirSync, readFileSync } from "node:fs";

/** The ids of the running processes of this machine whose command line contains a text. */
export function processesWith(text: string): number[] {
  return processIds().filter((pid) => commandLineOf(pid).includes(text));
}

/** All process ids. */
export function processIds(): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

/** The command line of a process, arguments separated by NUL. Empty if the process has exited. */
export function commandLineOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}
