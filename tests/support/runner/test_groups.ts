import { Glob } from "bun";

/** What groups need: those of `containers` and `docker` have an engine, each another one; what is `fast` runs within a minute. */
export type GroupKind = "fast" | "machine" | "containers" | "docker";

/** Test files that run together in one process. */
export interface TestGroup {
  readonly name: string;
  readonly files: readonly string[];
  /** What it needs: nothing, what the machine has, or an engine of one of two lanes. */
  readonly kind: GroupKind;
}

/** What is to be run. */
export interface TestSelection {
  readonly fastOnly: boolean;
  /** Files or folders, relative to the repository; none means everything. */
  readonly paths: readonly string[];
}

const root = new URL("../../../", import.meta.url).pathname;

/** How many files of a folder that needs servers run in one process: its parts run side by side with those of others, and each process costs a second. */
const PART = 2;

/** Files that wait for long: they come first, so that no lane is left with them at the end. */
const LONG = /\/(fault_matrix|paused_server|process_runtime|runtime|lost_lease|services_resume)_test\.ts$/;

/** Groups every chosen test file by folder, those that need no server first, the others in parts, none left out. */
export async function testGroups({ fastOnly, paths }: TestSelection): Promise<TestGroup[]> {
  const all = (await Array.fromAsync(new Glob("tests/**/*_test.ts").scan(root))).sort();
  const unknown = paths.find((path) => !all.some((file) => within(file, path)));
  if (unknown !== undefined) throw new Error(`Cannot run "${unknown}": there is no test at that path`);
  const chosen = paths.length === 0 ? all : all.filter((file) => paths.some((path) => within(file, path)));
  const fastPaths = await pathsOfFastTests();
  const isFast = (file: string) => fastPaths.some((path) => within(file, path));
  const runs = [...chosen.filter(isFast), ...(fastOnly ? [] : chosen.filter((file) => !isFast(file)))];
  return [...Map.groupBy(runs, (file) => nameOf(file, isFast(file)))].flatMap(([name, files]) =>
    isFast(files[0]!) ? [{ name, files, kind: "fast" as const }] : parts(name, files),
  );
}

function nameOf(file: string, isFast: boolean): string {
  const folder = file.split("/")[1] ?? file;
  return !isFast && folder === "integration" && kindOf(file) === "docker" ? "integration with Docker" : folder;
}

function parts(name: string, all: readonly string[]): TestGroup[] {
  const files = [...all.filter((file) => LONG.test(file)), ...all.filter((file) => !LONG.test(file))];
  return Array.from({ length: Math.ceil(files.length / PART) }, (_, index) => ({
    name: `${name}, part ${index + 1}`,
    files: files.slice(index * PART, (index + 1) * PART),
    kind: kindOf(files[0]!),
  }));
}

/** Adapters of Docker, and of what runs in containers of it: an S3 and an SSH server. */
const WITH_DOCKER = "tests/integration/docker/";

function kindOf(file: string): GroupKind {
  if (file.startsWith("tests/containers/")) return "containers";
  return file.startsWith(WITH_DOCKER) ? "docker" : "machine";
}

/** The paths of `test:fast`, so that the list exists once. */
async function pathsOfFastTests(): Promise<string[]> {
  const { scripts } = (await Bun.file(`${root}package.json`).json()) as { scripts: Record<string, string> };
  return (scripts["test:fast"] ?? "").split(/\s+/).filter((word) => word.startsWith("tests/"));
}

function within(file: string, path: string): boolean {
  const clean = path.replace(/^\.\//, "").replace(/\/+$/, "");
  return file === clean || file.startsWith(`${clean}/`) || clean === "tests" || clean === ".";
}
