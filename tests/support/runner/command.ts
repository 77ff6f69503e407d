/** The outcome of a command. */
export interface CommandOutcome {
  readonly ok: boolean;
  readonly output: string;
  /** The last line of its output: usually the reason of a failure. */
  readonly lastLine: string;
}

/** Runs a command to its end and returns its output. A missing program counts as a failure. */
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

/** Runs a command to its end; rejects with its last line if it fails. */
export async function must(command: readonly string[]): Promise<void> {
  const { ok, lastLine } = await run(command);
  if (!ok) throw new Error(`${command.join(" ")}: ${lastLine}`);
}

/** Prints a line of progress. */
export function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
