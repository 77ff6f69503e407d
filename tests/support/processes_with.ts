import { readdirSync, readFileSync } from "node:fs";

/** The processes of this machine, living ones only, whose argument vector holds a text. */
export function processesWith(text: string): number[] {
  return processIds().filter((pid) => commandLineOf(pid).includes(text));
}

/** Every process id there is. */
export function processIds(): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

/** A process's argument vector, words divided by NUL; empty for one that has ended. */
export function commandLineOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}
