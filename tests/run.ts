import { say } from "./support/runner/command.ts";
import { emptyCluster } from "./support/runner/empty_cluster.ts";
import { engineLanes, type Lane, plainLanes } from "./support/runner/lane.ts";
import { removeLeftNetworks } from "./support/runner/lane_network.ts";
import { removeLeftMemoryFolders } from "./support/runner/memory_folder.ts";
import type { Provision } from "./support/runner/prepare_lane.ts";
import { type GroupResult, runGroup, type TestCount } from "./support/runner/run_group.ts";
import { type TestGroup, testGroups } from "./support/runner/test_groups.ts";
import { testPrograms } from "./support/runner/test_programs.ts";

const MINUTES = 60_000;
/** Many times what the longest group takes on an idle machine. */
const LIMIT = 30 * MINUTES;

/**
 * A lane with the groups that it may run, in order. A group that several lanes may run is run by the first one that
 * reaches it.
 */
interface LanePlan {
  readonly lane: Lane;
  readonly groups: readonly TestGroup[];
  /** Prepares what a group needs. */
  readonly prepare?: (group: TestGroup) => Promise<void>;
}

/**
 * Runs all groups, in as many lanes as there are kinds, with the servers that they need. Stops the servers afterwards.
 */
async function runAll(groups: readonly TestGroup[], signal: AbortSignal): Promise<GroupResult> {
  await using opened = new AsyncDisposableStack();
  const of = (...kinds: readonly string[]) => groups.filter(({ kind }) => kinds.includes(kind));
  if (of("machine", "containers", "docker").length > 0) await testPrograms();
  await removeLeftNetworks();
  await removeLeftMemoryFolders();
  Object.assign(process.env, opened.use(await emptyCluster()).environment);
  const failed = new AbortController();
  const lanes = new Lanes(AbortSignal.any([signal, failed.signal]));
  const others = [...of("machine"), ...of("fast")];
  // Starts the engines while the plain lanes run.
  const withEngines = engineLanePlans(of("containers"), of("docker"), opened).then((plans) =>
    Promise.all(plans.map((plan) => lanes.run({ ...plan, groups: [...plan.groups, ...others] }))),
  );
  // The error is thrown below.
  withEngines.catch(() => {});
  const plain = (await plainLanes()).map((lane, index) => {
    const order = [of("fast"), of("machine")];
    return lanes.run({ lane: opened.use(lane), groups: (index === 0 ? order : order.toReversed()).flat() });
  });
  await Promise.all([...plain, withEngines]).catch((error: unknown) => {
    failed.abort(error);
    throw error;
  });
  const { results } = lanes;
  const sum = (pick: (each: TestCount) => number) => results.reduce((total, each) => total + pick(each), 0);
  return {
    passed: sum((each) => each.passed),
    failed: sum((each) => each.failed),
    skipped: sum((each) => each.skipped),
    failures: results.flatMap(({ failures }) => failures),
    cpuSeconds: results.reduce((total, { cpuSeconds }) => total + cpuSeconds, 0),
  };
}

/** Opens the lanes for groups that need an engine. A lane that has run its own groups helps the other. */
async function engineLanePlans(
  containers: readonly TestGroup[],
  docker: readonly TestGroup[],
  opened: AsyncDisposableStack,
): Promise<readonly LanePlan[]> {
  const wanted = [containers, docker].filter((each) => each.length > 0);
  if (wanted.length === 0) return [];
  const lanes = await engineLanes(wanted.length);
  // At once, because an engine takes seconds to stop.
  opened.defer(async () => void (await Promise.all(lanes.map((lane) => lane[Symbol.asyncDispose]()))));
  return lanes.map((lane, index) => {
    // With a single engine, its tests run one after the other.
    const own = index === lanes.length - 1 ? wanted.slice(index).flat() : wanted[index]!;
    const helped = wanted.flat().filter((group) => !own.includes(group) && !needsOf(group).some(isExpensive));
    const prepare = async (group: TestGroup) => {
      if (group.kind === "containers" || group.kind === "docker") await lane.prepare(needsOf(group));
    };
    return { lane, groups: [...own, ...helped], prepare };
  });
}

/** What the tests of a group need in the engine of their lane. */
function needsOf({ files }: TestGroup): readonly Provision[] {
  const needs: Provision[] = ["tiny"];
  const all = files.join();
  if (/ecosystems|canary/.test(all)) needs.push("toolchains");
  if (/s3_|backup_preflight/.test(all)) needs.push("s3");
  if (/containers\/(managed_server|migration_|server_|image_transfer)/.test(all)) needs.push("managed");
  return needs;
}

/** Whether something is prepared in one lane only. */
function isExpensive(provision: Provision): boolean {
  return provision === "toolchains" || provision === "s3";
}

/**
 * Runs lanes in parallel, as tests wait more than they compute. The output of one is streamed; the others print
 * their output group by group.
 */
class Lanes {
  readonly results: GroupResult[] = [];
  readonly #signal: AbortSignal;
  readonly #begun = new Set<TestGroup>();
  #isWatched = false;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  async run({ lane, groups, prepare }: LanePlan): Promise<void> {
    const output = this.#isWatched ? "later" : "inherit";
    this.#isWatched = true;
    for (const group of groups) {
      if (this.#begun.has(group)) continue;
      this.#begun.add(group);
      await prepare?.(group);
      const start = performance.now();
      const options = { folder: process.cwd(), timeout: LIMIT, signal: this.#signal, output, lane } as const;
      const result = await runGroup(group, options);
      this.results.push(result);
      const seconds = ((performance.now() - start) / 1_000).toFixed(0);
      const took = `${seconds} s, ${result.cpuSeconds.toFixed(0)} s of them computing`;
      say(`Group "${group.name}" took ${took}: ${result.passed} tests passed and ${result.failed} failed`);
      this.#signal.throwIfAborted();
    }
  }
}

/** Repeats the failures at the end of the output, where readers look first. */
function sayFailures({ failures }: GroupResult): void {
  for (const { file, line, name, message } of failures) {
    say(`Failed: ${name}\n  in ${file}${line === undefined ? "" : `:${line}`}\n${message.replace(/^/gm, "  | ")}`);
  }
}

/** The exit code: 0 only if tests ran, none failed, and none was skipped where skipping is not allowed. */
function verdict({ passed, failed, skipped }: TestCount): number {
  const mayNotSkip = process.env["CI"] === "true" && skipped > 0;
  if (mayNotSkip) say("Skipped tests count as failures here, because CI=true");
  if (passed + failed === 0) say("No test ran");
  return failed > 0 || passed === 0 || mayNotSkip ? 1 : 0;
}

async function main(): Promise<number> {
  const interrupted = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.on(signal, () => interrupted.abort(new Error(`Ended by ${signal}`)));
  process.env["TESTCONTAINERS_RYUK_DISABLED"] = "true";
  const words = process.argv.slice(2);
  const unknown = words.find((word) => word.startsWith("-") && word !== "--fast");
  let total: GroupResult = { passed: 0, failed: 1, skipped: 0, failures: [], cpuSeconds: 0 };
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
// Output may still be in flight in a pipe.
process.stdout.write("", () => process.exit(code));
