/** How a command ended. */
export interface CommandOutcome {
  readonly ok: boolean;
  readonly output: string;
  /** The last line it printed: mostly the reason, when it failed. */
  readonly lastLine: string;
}

/** Runs an argument vector to its end and gives what it printed; a missing program is a failed one. */
export async function run(
  command: readonly string[],
  options: { timeout?: number; environment?: Readonly<Record<string, string>> } = {},
): Promise<CommandOutcome> {
  if (!Bun.which(command[0] ?? "")) return { ok: false, output: "", lastLine: `${command[0]} is not installed` };
  const child = Bun.spawn([...command], {
    env: { ...process.env, ...options.environment },
    stdio: ["ignore", "pipe", "pipe"],
    ...(options.timeout === undefined ? {} : { timeout: options.timeout, killSignal: "SIGKILL" as const }),
  });
  const [output, errors, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  const lines = `${output}\n${errors}`.trim().split("\n");
  return { ok: code === 0, output, lastLine: lines.at(-1) ?? "" };
}

/** Runs an argument vector to its end; rejects with its last line when it fails. */
export async function must(command: readonly string[]): Promise<void> {
  const { ok, lastLine } = await run(command);
  if (!ok) throw new Error(`${command.join(" ")}: ${lastLine}`);
}

/** Prints one line of progress. */
export function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
