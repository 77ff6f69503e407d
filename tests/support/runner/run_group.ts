import { chmod, mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { say } from "./command.ts";
import type { Lane } from "./lane.ts";
import type { TestGroup } from "./test_groups.ts";
import { readTestReport, type TestFailure } from "./test_report.ts";

/** What became of a number of tests. */
export interface TestCount {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** What became of a group, and why of what failed. */
export interface GroupResult extends TestCount {
  readonly failures: readonly TestFailure[];
}

/** Where and how long a group may run. */
export interface RunOptions {
  readonly folder: string;
  readonly timeout: number;
  /** Ends the run, and what it has started. */
  readonly signal: AbortSignal;
  /** What happens to the output of the tests; by default it is shown as it comes. */
  readonly output?: "inherit" | "later" | "ignore";
  /** Where the tests run; by default beside this process. */
  readonly lane?: Pick<Lane, "environment" | "inside">;
}

/** Runs one group in a process of its own, its output shown; a file without any result counts as failed. */
export async function runGroup(group: TestGroup, options: RunOptions): Promise<GroupResult> {
  const place = await mkdtemp(join(tmpdir(), "slr-"));
  const report = join(place, "report.xml");
  // Short, as sockets have to fit below it, and open to the users that programs run as.
  const files = join(place, "t");
  await mkdir(files);
  await chmod(place, 0o711);
  await chmod(files, 0o777);
  try {
    const kept = join(place, "output");
    const shown = options.output === "later" ? Bun.file(kept) : (options.output ?? "inherit");
    const ok = await runTests(group, { ...options, report, shown, files });
    // To its end: a pipe takes no more at once than it holds.
    if (options.output === "later") await Bun.write(Bun.stdout, await readFile(kept));
    return resultOf(group, await readFile(report, "utf8").catch(() => ""), ok);
  } finally {
    // Deployed apps outlive whoever deployed them, and so does what a killed test has left.
    await endProcessesIn(place);
    await rm(place, { recursive: true, force: true }).catch(() => {});
  }
}

type Shown = "inherit" | "ignore" | Bun.BunFile;

async function runTests(
  { name, files }: TestGroup,
  options: RunOptions & { readonly report: string; readonly shown: Shown; readonly files: string },
): Promise<boolean> {
  const { folder, timeout, signal, report, shown, files: TMPDIR, lane } = options;
  const reporter = ["--reporter=junit", `--reporter-outfile=${report}`];
  const command = [process.execPath, "test", "--timeout=30000", ...reporter, ...files.map((file) => `./${file}`)];
  // A group of processes of its own, so that whatever the tests started ends with them.
  const tests = Bun.spawn([...(lane?.inside(command) ?? command)], {
    cwd: folder,
    detached: true,
    env: { ...process.env, TMPDIR, ...lane?.environment },
    stdio: ["ignore", shown, shown],
  });
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

/** Ends every process that was started with something below a folder. */
async function endProcessesIn(folder: string): Promise<void> {
  for (const pid of (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name))) {
    const command = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
    if (Number(pid) === process.pid || !command.includes(`${folder}/`)) continue;
    try {
      process.kill(Number(pid), "SIGKILL");
    } catch {
      // It has ended meanwhile.
    }
  }
}

function resultOf({ name, files }: TestGroup, xml: string, ok: boolean): GroupResult {
  const report = readTestReport(xml);
  const unsaid = (file: string, message: string) => ({ file, line: undefined, name, message });
  const silent = files
    .filter((file) => !report.files.has(file))
    .map((file) => unsaid(file, "No result came from this file"));
  const failures = [...report.failures, ...silent];
  const failed = report.failed + silent.length;
  if (!ok && failed === 0) failures.push(unsaid(files.join(", "), "The run failed although every test passed"));
  return {
    passed: report.tests - report.failed - report.skipped,
    failed: ok ? failed : Math.max(failed, 1),
    skipped: report.skipped,
    failures,
  };
}
