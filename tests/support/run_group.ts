import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { say } from "./command.ts";
import type { TestGroup } from "./test_groups.ts";

/** What became of a number of tests. */
export interface TestCount {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** Where and how long a group may run. */
export interface RunOptions {
  readonly folder: string;
  readonly timeout: number;
  /** Ends the run, and what it has started. */
  readonly signal: AbortSignal;
  /** What happens to the output of the tests; it is shown as it comes unless told otherwise. */
  readonly output?: "inherit" | "later" | "ignore";
}

/** Runs one group in a process of its own, its output shown; a file without any result counts as failed. */
export async function runGroup(group: TestGroup, options: RunOptions): Promise<TestCount> {
  const place = await mkdtemp(join(tmpdir(), "slipway-run-"));
  const report = join(place, "report.xml");
  try {
    const kept = join(place, "output");
    const shown = options.output === "later" ? Bun.file(kept) : (options.output ?? "inherit");
    const ok = await runTests(group, { ...options, report, shown });
    // To its end: a pipe takes no more at once than it holds.
    if (options.output === "later") await Bun.write(Bun.stdout, await readFile(kept));
    return count(group, await readFile(report, "utf8").catch(() => ""), ok);
  } finally {
    await rm(place, { recursive: true, force: true });
  }
}

type Shown = "inherit" | "ignore" | Bun.BunFile;

async function runTests(
  { name, files }: TestGroup,
  options: RunOptions & { readonly report: string; readonly shown: Shown },
): Promise<boolean> {
  const { folder, timeout, signal, report, shown } = options;
  const reporter = ["--reporter=junit", `--reporter-outfile=${report}`];
  const command = [process.execPath, "test", "--timeout=30000", ...reporter, ...files.map((file) => `./${file}`)];
  // A group of processes of its own, so that whatever the tests started ends with them.
  const tests = Bun.spawn(command, { cwd: folder, detached: true, stdio: ["ignore", shown, shown] });
  const end = () => endProcesses(tests.pid);
  const limit = setTimeout(() => {
    say(`The tests of "${name}" were ended: they took longer than ${timeout / 1_000} seconds`);
    end();
  }, timeout);
  signal.addEventListener("abort", end);
  if (signal.aborted) end();
  const code = await tests.exited;
  clearTimeout(limit);
  signal.removeEventListener("abort", end);
  end();
  return code === 0;
}

function endProcesses(group: number): void {
  try {
    process.kill(-group, "SIGKILL");
  } catch {
    // Nothing of it is left.
  }
}

function count({ files }: TestGroup, report: string, ok: boolean): TestCount {
  const total = /<testsuites [^>]*>/.exec(report)?.[0] ?? "";
  const number = (attribute: string) => Number(new RegExp(` ${attribute}="(\\d+)"`).exec(total)?.[1] ?? 0);
  const silent = files.filter((file) => !report.includes(`file="${file}"`));
  silent.forEach((file) => say(`No result from ${file}`));
  const [tests, failures, skipped] = [number("tests"), number("failures"), number("skipped")];
  const failed = failures + silent.length;
  return { passed: tests - failures - skipped, failed: ok ? failed : Math.max(failed, 1), skipped };
}
