import { join, resolve } from "node:path";
import type { Subprocess } from "bun";

export type Program = Subprocess<"ignore", "pipe", "inherit" | "ignore">;

export const ROOT = join(import.meta.dir, "..");

/** Compiles the server as `bin/up` does, and returns its path. */
function compiled(): string {
  const words = ["bash", "-c", 'source bin/setup >&2 && source bin/program >&2 && echo "$program"'];
  const { stdout, success } = Bun.spawnSync(words, { cwd: ROOT, stderr: "inherit" });
  if (!success) throw new Error("Cannot compile the server");
  return stdout.toString().trim();
}

/** Starts the server as `bin/up` does. */
export function startServer(env: Record<string, string> = {}): Program {
  compiledServer ??= compiled();
  return start(compiledServer, [], env, "ignore");
}

let compiledServer: string | undefined;

/** Starts a script of this repository with Bun. */
export function start(
  script: string,
  args: readonly string[],
  env: Record<string, string> = {},
  stderr: "inherit" | "ignore" = "inherit",
): Program {
  const { PATH = "", HOME = "" } = process.env;
  return Bun.spawn([process.execPath, resolve(ROOT, script), ...args], {
    cwd: ROOT,
    env: { PATH, HOME, EDGE_PORT: "0", EDGE_TLS_PORT: "0", ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr,
  });
}

/** Reads a program's output until it matches a pattern. */
export async function printed(program: Program, pattern: RegExp): Promise<RegExpExecArray> {
  const decoder = new TextDecoder();
  let text = "";
  const reader = program.stdout.getReader();
  for (;;) {
    const { value, done } = await reader.read();
    text += decoder.decode(value, { stream: true });
    const match = pattern.exec(text);
    if (match) {
      reader.releaseLock();
      return match;
    }
    if (done) throw new Error(`the program ended before it printed ${pattern}: ${text}`);
  }
}

/** Sends SIGTERM to a program and waits until it has exited. */
export async function stop(program: Program): Promise<void> {
  program.kill("SIGTERM");
  await program.exited;
}
