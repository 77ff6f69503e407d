import { chmod, chown, mkdir, realpath, rm, stat, symlink } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { invalid } from "../../domain/failure.ts";
import type { SystemUser } from "../../ports/servers/system_user.ts";

/** The folders of this machine that one program works with. */
export interface SandboxDirs {
  /** The release folder, which it may read and write. */
  readonly release: string;
  /** The folder it starts in, relative to the release folder; empty for that itself. */
  readonly working: string;
  /** Its home, kept from run to run. */
  readonly home: string;
  /** Emptied for each run. */
  readonly temporary: string;
  /** Where the server's own Bun is found by name. */
  readonly programs: string;
  /** An empty folder that a new root is mounted on. */
  readonly root: string;
  /** What it must not see, even where its surroundings are shown. */
  readonly hidden: string;
  readonly user: SystemUser | undefined;
}

/** What a room is made of. */
export interface SandboxDirsOptions {
  /** Private to this program; made when missing. */
  readonly folder: string;
  readonly release: string;
  readonly workingFolder: string;
  readonly hidden: string;
  readonly user: SystemUser | undefined;
  /** Kept elsewhere when given, to be shared with later programs. */
  readonly home?: string;
}

/** Makes the folders of a program ready for a run and hands them to the user it runs as. */
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
  // Bun stands in for Node.js where there is none.
  await symlink("../bun", join(dirs.programs, "last/node"));
  return dirs;
}

/** Gives a whole folder to the user that programs run as; what is theirs already is left alone. */
export async function giveTo(user: SystemUser | undefined, folder: string): Promise<void> {
  if (!user || (await stat(folder)).uid === user.uid) return;
  const owner = `${user.uid}:${user.gid}`;
  // Depth first, so that the folder itself changes hands last: one that did was done to the end.
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
      "Cannot run this: the folder to run in is not there in the release; check rootDirectory",
    );
  }
  return inside;
}
