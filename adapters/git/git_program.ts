import { LineSplitter } from "../../domain/deployments/line_splitter.ts";
import { Failure } from "../../domain/failure.ts";

/** The outcome of one git process. */
export interface GitOutcome {
  readonly code: number;
  readonly output: string;
  /** The last lines of stderr. */
  readonly errors: readonly string[];
}

/** Input of one git process. */
export interface GitRun {
  readonly arguments: readonly string[];
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /**
   * Called with each line of stderr, including progress. A returned promise applies backpressure: reading pauses until
   * it resolves.
   */
  readonly onLine?: (line: string) => void | Promise<void>;
}

const MAX_OUTPUT = 1_048_576;
const MAX_ERRORS = 50;

/**
 * Runs git with an argv in its own session, with nothing of this process's environment except `PATH`. Rejects with the
 * signal's reason when aborted, once git and its children are dead.
 */
export async function runGit(run: GitRun): Promise<GitOutcome> {
  run.signal.throwIfAborted();
  const git = Bun.which("git");
  if (!git) {
    throw new Failure(
      "unavailable",
      "git_not_installed",
      "Cannot fetch the source: git is not installed on this server",
    );
  }
  const child = Bun.spawn([...tiedToThisProcess(), git, ...run.arguments], {
    cwd: run.folder,
    env: { PATH: process.env["PATH"] ?? "/usr/bin:/bin", ...run.environment },
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const kill = () => killGroup(child.pid);
  run.signal.addEventListener("abort", kill, { once: true });
  try {
    const [output, errors, code] = await Promise.all([
      textOf(child.stdout),
      complaintsOf(child.stderr, run.onLine ?? (() => {})),
      child.exited,
    ]);
    run.signal.throwIfAborted();
    return { code, output, errors };
  } catch (error) {
    await endGroup(child.pid);
    await child.exited;
    throw error;
  } finally {
    run.signal.removeEventListener("abort", kill);
  }
}

/** Returns the argv prefix that kills a command when this process is killed, or nothing where the system cannot. */
function tiedToThisProcess(): string[] {
  const setpriv = process.platform === "linux" ? Bun.which("setpriv") : null;
  return setpriv ? [setpriv, "--no-new-privs", "--pdeathsig=KILL", "--"] : [];
}

/** Kills a process group. Returns whether any of its processes was left. */
function killGroup(pid: number): boolean {
  try {
    return process.kill(-pid, "SIGKILL");
  } catch {
    return false;
  }
}

/**
 * Kills a process group and waits until it is gone. The wait is bounded, because zombies that are never reaped count
 * too.
 */
async function endGroup(pid: number): Promise<void> {
  for (let waits = 0; killGroup(pid) && waits < 100; waits++) await Bun.sleep(5);
}

async function textOf(stream: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of stream) if (text.length < MAX_OUTPUT) text += decoder.decode(bytes, { stream: true });
  return text + decoder.decode();
}

async function complaintsOf(
  stream: ReadableStream<Uint8Array>,
  onLine: (line: string) => void | Promise<void>,
): Promise<string[]> {
  const splitter = new LineSplitter();
  const last: string[] = [];
  const take = async (lines: readonly string[]) => {
    for (const line of lines) {
      last.push(line);
      if (last.length > MAX_ERRORS) last.shift();
      await onLine(line);
    }
  };
  for await (const bytes of stream) await take(splitter.push(bytes));
  await take(splitter.flush());
  return last;
}
