import { Glob } from "bun";

/**
 * What a group needs. `containers` and `docker` groups each use their own engine; `fast` groups run within a minute.
 */
export type GroupKind = "fast" | "machine" | "containers" | "docker";

/** Test files that run in one process. */
export interface TestGroup {
  readonly name: string;
  readonly files: readonly string[];
  /** What it needs: nothing, the machine's programs, or the engine of one of two lanes. */
  readonly kind: GroupKind;
}

/** The tests to run. */
export interface TestSelection {
  readonly fastOnly: boolean;
  /** Files or folders, relative to the repository. Empty means all. */
  readonly paths: readonly string[];
}

const root = new URL("../../../", import.meta.url).pathname;

/**
 * How many files of a folder that needs servers run in one process. Parts run in parallel with others, and each process
 * costs a second. Few of those with containers, because they take longest.
 */
const PART = { machine: 4, containers: 2, docker: 2 } as const;

/** Slow files. They run first, each in its own process, so that no lane is left with them at the end. */
const SLOW = new RegExp(
  `/(${[
    "fault_matrix|paused_server|process_runtime|runtime|lost_lease|services_resume",
    "server_away|server_deploy|server_runtime|services_faults|shop",
    "migration_round_trip|migration_taken_over|migration_takeover",
  ].join("|")})_test\\.ts$`,
);

/** Files that take a while, mostly waiting. They run next, beside others that compute, and several in a process. */
const WAITING = new RegExp(
  `/(${[
    "cli|database_away|deploy|deployment_disk|edge_proxy|follow_output|git_host|git_host_login|git_sources|git_ssh",
    "managed_server|postgres_health|postgres_outage|postgres_stores|refused_start|runtime_stream|separate_edge",
    "skewed_clock|slow_stops|start_stop",
  ].join("|")})_test\\.ts$`,
);

/** Groups all selected test files by folder: first those that need no server, then the others in parts. Omits none. */
export async function testGroups({ fastOnly, paths }: TestSelection): Promise<TestGroup[]> {
  const all = (await Array.fromAsync(new Glob("tests/**/*_test.ts").scan(root))).sort();
  const unknown = paths.find((path) => !all.some((file) => within(file, path)));
  if (unknown !== undefined) throw new Error(`Cannot run "${unknown}": there is no test at that path`);
  const chosen = paths.length === 0 ? all : all.filter((file) => paths.some((path) => within(file, path)));
  const fastPaths = await pathsOfFastTests();
  const isFast = (file: string) => fastPaths.some((path) => within(file, path));
  const runs = [...chosen.filter(isFast), ...(fastOnly ? [] : chosen.filter((file) => !isFast(file)))];
  const groups = [...Map.groupBy(runs, (file) => nameOf(file, isFast(file)))].flatMap(([name, files]) =>
    isFast(files[0]!) ? [{ name, files, kind: "fast" as const }] : parts(name, files),
  );
  return groups.toSorted((one, other) => turnOf(one.files[0]!) - turnOf(other.files[0]!));
}

/** The files with the lowest number run first. */
function turnOf(file: string): number {
  if (SLOW.test(file)) return 0;
  return WAITING.test(file) ? 1 : 2;
}

function nameOf(file: string, isFast: boolean): string {
  const folder = file.split("/")[1] ?? file;
  return !isFast && folder === "integration" && kindOf(file) === "docker" ? "integration with Docker" : folder;
}

function parts(name: string, all: readonly string[]): TestGroup[] {
  const kind = kindOf(all[0]!);
  const size = PART[kind];
  const others = all.filter((file) => !SLOW.test(file)).toSorted((one, other) => turnOf(one) - turnOf(other));
  const chunks = [
    ...all.filter((file) => SLOW.test(file)).map((file) => [file]),
    ...Array.from({ length: Math.ceil(others.length / size) }, (_, at) => others.slice(at * size, (at + 1) * size)),
  ];
  return chunks.map((files, index) => ({ name: `${name}, part ${index + 1}`, files, kind }));
}

/** Tests of Docker adapters and of adapters whose servers (S3, SSH) run in Docker containers. */
const WITH_DOCKER = "tests/integration/docker/";

function kindOf(file: string): Exclude<GroupKind, "fast"> {
  if (file.startsWith("tests/containers/")) return "containers";
  return file.startsWith(WITH_DOCKER) ? "docker" : "machine";
}

/** The paths of the `test:fast` script, so that the list exists only once. */
async function pathsOfFastTests(): Promise<string[]> {
  const { scripts } = (await Bun.file(`${root}package.json`).json()) as { scripts: Record<string, string> };
  return (scripts["test:fast"] ?? "").split(/\s+/).filter((word) => word.startsWith("tests/"));
}

function within(file: string, path: string): boolean {
  const clean = path.replace(/^\.\//, "").replace(/\/+$/, "");
  return file === clean || file.startsWith(`${clean}/`) || clean === "tests" || clean === ".";
}
