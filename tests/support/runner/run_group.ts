import { chmod, mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { say } from "./command.ts";
import type { Lane } from "./lane.ts";
import { memoryFolder } from "./memory_folder.ts";
import type { TestGroup } from "./test_groups.ts";
import { readTestReport, type TestFailure } from "./test_report.ts";

/** How many tests passed, failed and were skipped. */
export interface TestCount {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** The result of a group, with its failures. */
export interface GroupResult extends TestCount {
  readonly failures: readonly TestFailure[];
  /** The CPU time of its process and of the programs that this waited for, in seconds. */
  readonly cpuSeconds: number;
}

/** Where and how long a group may run. */
export interface RunOptions {
  readonly folder: string;
  readonly timeout: number;
  /** Aborts the run and kills everything that it started. */
  readonly signal: AbortSignal;
  /** Where the tests' output goes. By default it is printed as it arrives. */
  readonly output?: "inherit" | "later" | "ignore";
  /** The lane that the tests run in. By default they run in the environment of this process. */
  readonly lane?: Pick<Lane, "environment" | "inside">;
}

/** Ends a test that hangs. Far more than any needs, because a busy machine can be ten times slower than an idle one. */
const TEST_LIMIT_MS = 600_000;

/** Runs one group in a separate process. A file without any result counts as failed. */
export async function runGroup(group: TestGroup, options: RunOptions): Promise<GroupResult> {
  const place = await mkdtemp(join(tmpdir(), "slr-"));
  const memory = await memoryFolder(place);
  const report = join(place, "report.xml");
  // Short, because socket paths below it have a length limit, and accessible to the users that programs run as.
  const files = join(place, "t");
  await mkdir(files);
  await chmod(place, 0o711);
  await chmod(files, 0o777);
  try {
    const kept = join(place, "output");
    const shown = options.output === "later" ? Bun.file(kept) : (options.output ?? "inherit");
    const { ok, cpuSeconds } = await runTests(group, { ...options, report, shown, files });
    // Waits until everything is written: a pipe accepts only as much at once as its buffer holds.
    if (options.output === "later") await Bun.write(Bun.stdout, await readFile(kept));
    return { ...resultOf(group, await readFile(report, "utf8").catch(() => ""), ok), cpuSeconds };
  } finally {
    // Deployed apps outlive the server that deployed them, as do leftovers of a killed test.
    await endProcessesIn(place);
    await memory[Symbol.asyncDispose]();
    await rm(place, { recursive: true, force: true }).catch(() => {});
  }
}

type Shown = "inherit" | "ignore" | Bun.BunFile;

async function runTests(
  { name, files }: TestGroup,
  options: RunOptions & { readonly report: string; readonly shown: Shown; readonly files: string },
): Promise<{ readonly ok: boolean; readonly cpuSeconds: number }> {
  const { folder, timeout, signal, report, shown, files: TMPDIR, lane } = options;
  const reporter = ["--reporter=junit", `--reporter-outfile=${report}`];
  const command = [
    process.execPath,
    "test",
    `--timeout=${TEST_LIMIT_MS}`,
    ...reporter,
    ...files.map((file) => `./${file}`),
  ];
  // In a separate process group, so that everything that the tests started is killed with them.
  const tests = Bun.spawn([...(lane?.inside(command) ?? command)], {
    cwd: folder,
    detached: true,
    // Test processes are too short-lived for the compiler of hot code to pay off.
    env: { ...process.env, BUN_JSC_useFTLJIT: "0", TMPDIR, ...lane?.environment },
    stdio: ["ignore", shown, shown],
  });
  const end = () => endProcesses(tests.pid);
  const limit = setTimeout(() => {
    say(`The tests of "${name}" were stopped: they took longer than ${timeout / 1_000} seconds`);
    end();
  }, timeout);
  signal.addEventListener("abort", end);
  if (signal.aborted) end();
  const code = await tests.exited;
  clearTimeout(limit);
  signal.removeEventListener("abort", end);
  end();
  return { ok: code === 0, cpuSeconds: Number(tests.resourceUsage()?.cpuTime.total ?? 0) / 1e6 };
}

/** Kills every process of a group. */
export function endProcesses(group: number): void {
  try {
    process.kill(-group, "SIGKILL");
  } catch {
    // No process of the group is left.
  }
}

/** Kills every process with a path below this folder in its command line. */
export async function endProcessesIn(folder: string): Promise<void> {
  for (const pid of (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name))) {
    const command = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
    if (Number(pid) === process.pid || !command.includes(`${folder}/`)) continue;
    try {
      process.kill(Number(pid), "SIGKILL");
    } catch {
      // It has exited meanwhile.
    }
  }
}

function resultOf({ name, files }: TestGroup, xml: string, ok: boolean): Omit<GroupResult, "cpuSeconds"> {
  const report = readTestReport(xml);
  const unsaid = (file: string, message: string) => ({ file, line: undefined, name, message });
  const silent = files
    .filter((file) => !report.files.has(file))
    .map((file) => unsaid(file, "This file reported no result"));
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
