import { baseImage } from "./support/base_image.ts";
import { say } from "./support/command.ts";
import { dockerEngine } from "./support/docker_engine.ts";
import { type GroupResult, runGroup, type TestCount } from "./support/run_group.ts";
import { type TestGroup, testGroups } from "./support/test_groups.ts";
import { removeTestLeftovers } from "./support/test_leftovers.ts";
import { toolchainImage } from "./support/toolchain_image.ts";
import { testPrograms } from "./support/test_programs.ts";

const MINUTES = 60_000;

/** Runs the quick groups and then the others, with the servers they need, which are gone afterwards. */
async function runAll(groups: readonly TestGroup[], signal: AbortSignal): Promise<GroupResult> {
  await using servers = new AsyncDisposableStack();
  if (groups.some(({ needsServers }) => needsServers)) {
    await testPrograms();
    servers.use(await dockerEngine());
    await baseImage();
    await removeTestLeftovers();
    servers.defer(removeTestLeftovers);
  }
  const slow = groups.filter(({ needsServers }) => needsServers);
  // What takes long to make is made meanwhile.
  const image = slow.length > 0 ? toolchainImage() : undefined;
  const quick = groups.filter(({ needsServers }) => !needsServers);
  const results = await twoAtOnce([quick, quick], { timeout: 20 * MINUTES, signal });
  await image;
  // What keeps the engine busy runs one after the other, beside what mostly waits.
  const { heavy = [], light = [] } = Object.groupBy(slow, ({ name }) =>
    /^containers\b/.test(name) ? "heavy" : "light",
  );
  results.push(...(await twoAtOnce([[...heavy, ...light], light], { timeout: 60 * MINUTES, signal })));
  const sum = (pick: (each: TestCount) => number) => results.reduce((total, each) => total + pick(each), 0);
  return {
    passed: sum((each) => each.passed),
    failed: sum((each) => each.failed),
    skipped: sum((each) => each.skipped),
    failures: results.flatMap(({ failures }) => failures),
  };
}

/**
 * Runs groups in two lanes, as tests wait more than they work; what both may run is run by the one that comes to it first. One lane is watched as it
 * runs; what is said in the other is shown group by group.
 */
async function twoAtOnce(
  [first, second]: readonly [readonly TestGroup[], readonly TestGroup[]],
  options: { readonly timeout: number; readonly signal: AbortSignal },
): Promise<GroupResult[]> {
  const results: GroupResult[] = [];
  const begun = new Set<TestGroup>();
  const lane = async (groups: readonly TestGroup[], output: "inherit" | "later") => {
    for (const group of groups) {
      if (begun.has(group)) continue;
      begun.add(group);
      const start = performance.now();
      const result = await runGroup(group, { ...options, folder: process.cwd(), output });
      results.push(result);
      const seconds = ((performance.now() - start) / 1_000).toFixed(0);
      say(`Group "${group.name}" took ${seconds} s: ${result.passed} tests passed and ${result.failed} failed`);
      options.signal.throwIfAborted();
    }
  };
  await Promise.all([lane(first, "inherit"), lane(second, "later")]);
  options.signal.throwIfAborted();
  return results;
}

/** Says once more what failed: whoever looks at a long run looks at its end. */
function sayFailures({ failures }: GroupResult): void {
  for (const { file, line, name, message } of failures) {
    say(`Failed: ${name}\n  in ${file}${line === undefined ? "" : `:${line}`}\n${message.replace(/^/gm, "  | ")}`);
  }
}

/** The exit code: 0 only when tests ran, none failed, and none was skipped where skipping is not allowed. */
function verdict({ passed, failed, skipped }: TestCount): number {
  const mayNotSkip = process.env["CI"] === "true" && skipped > 0;
  if (mayNotSkip) say("Skipped tests count as failures here, because CI=true");
  if (passed + failed === 0) say("Not one test ran");
  return failed > 0 || passed === 0 || mayNotSkip ? 1 : 0;
}

async function main(): Promise<number> {
  const interrupted = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.on(signal, () => interrupted.abort(new Error(`Ended by ${signal}`)));
  process.env["TESTCONTAINERS_RYUK_DISABLED"] = "true";
  const words = process.argv.slice(2);
  const unknown = words.find((word) => word.startsWith("-") && word !== "--fast");
  let total: GroupResult = { passed: 0, failed: 1, skipped: 0, failures: [] };
  try {
    if (unknown !== undefined) throw new Error(`Cannot understand "${unknown}": usage is bin/test [--fast] [paths …]`);
    const paths = words.filter((word) => word !== "--fast");
    const groups = await testGroups({ fastOnly: words.includes("--fast"), paths });
    total = await runAll(groups, interrupted.signal);
  } catch (error) {
    say(error instanceof Error ? error.message : String(error));
  }
  sayFailures(total);
  const code = verdict(total);
  const skipped = total.skipped > 0 ? `, ${total.skipped} skipped` : "";
  say(`${total.passed} passed, ${total.failed} failed${skipped}`);
  return code;
}

const code = await main();
// What was said may still be on its way through a pipe.
process.stdout.write("", () => process.exit(code));
