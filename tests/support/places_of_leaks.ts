import { readFileSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { commandLineOf, processIds } from "./processes_with.ts";

/** Notes every command line, and the environment of every process but those with an own command, again and again. */
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
        // It may have become another program in between: the next look finds it as that.
        if (commandLineOf(pid) === command) environments.add(environment);
      } catch {
        // It ended in the meantime, or it is another user's.
      }
    }
  };
  const timer = setInterval(look, 10);
  return { commands, environments, [Symbol.dispose]: () => clearInterval(timer) };
}

/** Everything below a folder, as text. */
export async function folderText(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  const texts = await Promise.all(files.map((file) => readFile(file, "latin1").catch(() => "")));
  return [...files, ...texts].join("\\n");
}
