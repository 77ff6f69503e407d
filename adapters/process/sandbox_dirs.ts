import { chmod, chown, mkdir, realpath, rm, stat, symlink } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { invalid } from "../../domain/failure.ts";
import type { SystemUser } from "../../ports/servers/system_user.ts";

/** The directories of one program on this machine. */
export interface SandboxDirs {
  /** The release folder, readable and writable. */
  readonly release: string;
  /** The working directory, relative to the release folder. Empty for the release folder itself. */
  readonly working: string;
  /** The home directory, kept across runs. */
  readonly home: string;
  /** The temporary directory, emptied before each run. */
  readonly temporary: string;
  /** Directory on PATH with the server's own Bun. */
  readonly programs: string;
  /** An empty directory to mount a new root on. */
  readonly root: string;
  /** A path to hide, even where its parent is mounted. */
  readonly hidden: string;
  readonly user: SystemUser | undefined;
}

/** Input of `makeSandboxDirs`. */
export interface SandboxDirsOptions {
  /** Private to this program. Created when missing. */
  readonly folder: string;
  readonly release: string;
  readonly workingFolder: string;
  readonly hidden: string;
  readonly user: SystemUser | undefined;
  /** A home directory elsewhere, shared with later programs. */
  readonly home?: string;
}

/**
 * Prepares the directories of a program for a run and chowns the private ones to its user. Throws `no_such_folder` when
 * the working folder is not in the release.
 */
export async function makeSandboxDirs({
  folder,
  release,
  workingFolder,
  hidden,
  user,
  ...given
}: SandboxDirsOptions): Promise<SandboxDirs> {
  const working = await workingPath(release, workingFolder);
  const dirs: SandboxDirs = {
    release: await realpath(release),
    working,
    home: given.home ?? join(folder, "home"),
    temporary: join(folder, "tmp"),
    programs: join(folder, "bin"),
    root: join(folder, "root"),
    hidden,
    user,
  };
  await rm(dirs.temporary, { recursive: true, force: true });
  await rm(dirs.programs, { recursive: true, force: true });
  for (const path of [dirs.home, dirs.temporary]) {
    await mkdir(path, { recursive: true, mode: 0o700 });
    if (user) await chown(path, user.uid, user.gid);
  }
  await mkdir(dirs.root, { recursive: true });
  await mkdir(join(dirs.programs, "last"), { recursive: true });
  for (const path of [dirs.programs, join(dirs.programs, "last")]) await chmod(path, 0o755);
  await symlink(process.execPath, join(dirs.programs, "bun"));
  await symlink("bun", join(dirs.programs, "bunx"));
  // Bun replaces Node.js where that is not installed.
  await symlink("../bun", join(dirs.programs, "last/node"));
  return dirs;
}

/** Recursively chowns a folder to the user that programs run as. Skips a folder that already belongs to it. */
export async function chownTree(user: SystemUser | undefined, folder: string): Promise<void> {
  if (!user || (await stat(folder)).uid === user.uid) return;
  const owner = `${user.uid}:${user.gid}`;
  // Depth first, so that the folder itself is changed last: its owner shows that the rest is complete.
  const change = ["-depth", "!", "-uid", `${user.uid}`, "-exec", "chown", "--no-dereference", owner, "{}", "+"];
  await Bun.spawn(["find", folder, ...change], { stdio: ["ignore", "ignore", "ignore"] }).exited;
}

async function workingPath(release: string, workingFolder: string): Promise<string> {
  const path = resolve(release, workingFolder);
  const found = await stat(path).catch(() => undefined);
  const inside = found && relative(await realpath(release), await realpath(path));
  if (inside === undefined || !found?.isDirectory() || inside === ".." || inside.startsWith("../")) {
    throw invalid(
      "no_such_folder",
      "Cannot run this: the release does not have the folder to run in; check rootDirectory",
    );
  }
  return inside;
}
