import { Glob } from "bun";

/** Test files that run together in one process. */
export interface TestGroup {
  readonly name: string;
  readonly files: readonly string[];
  /** Whether it may need Docker and other servers. */
  readonly needsServers: boolean;
}

/** What is to be run. */
export interface TestSelection {
  readonly fastOnly: boolean;
  /** Files or folders, relative to the repository; none means everything. */
  readonly paths: readonly string[];
}

const root = new URL("../../", import.meta.url).pathname;

/** How many files of a folder that needs servers run in one process: its parts run side by side with those of others, and each process costs a second. */
const PART = 4;

/** Groups every chosen test file by folder, those that need no server first, the others in parts, none left out. */
export async function testGroups({ fastOnly, paths }: TestSelection): Promise<TestGroup[]> {
  const all = (await Array.fromAsync(new Glob("tests/**/*_test.ts").scan(root))).sort();
  const unknown = paths.find((path) => !all.some((file) => within(file, path)));
  if (unknown !== undefined) throw new Error(`Cannot run "${unknown}": there is no test at that path`);
  const chosen = paths.length === 0 ? all : all.filter((file) => paths.some((path) => within(file, path)));
  const fastPaths = await pathsOfFastTests();
  const isFast = (file: string) => fastPaths.some((path) => within(file, path));
  const runs = [...chosen.filter(isFast), ...(fastOnly ? [] : chosen.filter((file) => !isFast(file)))];
  return [...Map.groupBy(runs, (file) => file.split("/")[1] ?? file)].flatMap(([name, files]) =>
    files.every(isFast) ? [{ name, files, needsServers: false }] : parts(name, files),
  );
}

function parts(name: string, files: readonly string[]): TestGroup[] {
  return Array.from({ length: Math.ceil(files.length / PART) }, (_, index) => ({
    name: `${name}, part ${index + 1}`,
    files: files.slice(index * PART, (index + 1) * PART),
    needsServers: true,
  }));
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
