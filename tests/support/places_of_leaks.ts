import { readFileSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { commandLineOf, processIds } from "./processes_with.ts";

/**
 * Repeatedly records the command line of every process, and the environment of those whose command does not match
 * `own`.
 */
export function watchProcesses(own: RegExp) {
  const commands = new Set<string>();
  const environments = new Set<string>();
  const look = () => {
    for (const pid of processIds()) {
      const command = commandLineOf(pid);
      commands.add(command);
      if (own.test(command)) continue;
      try {
        const environment = readFileSync(`/proc/${pid}/environ`, "latin1");
        // It may have executed another program in between; the next iteration sees that one.
        if (commandLineOf(pid) === command) environments.add(environment);
      } catch {
        // It has exited meanwhile, or belongs to another user.
      }
    }
  };
  const timer = setInterval(look, 10);
  return { commands, environments, [Symbol.dispose]: () => clearInterval(timer) };
}

/** The names and contents of all files below a folder, as text. */
export async function folderText(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  const texts = await Promise.all(files.map((file) => readFile(file, "latin1").catch(() => "")));
  return [...files, ...texts].join("\\n");
}
