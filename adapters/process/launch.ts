import { closeSync, constants, fchownSync, openSync } from "node:fs";
import { join } from "node:path";
import type { Secret } from "../../domain/secret.ts";
import { type Confinement, SYSTEM_PATH } from "./choose_sandbox.ts";
import type { InstanceFolder, InstanceRecord } from "./instance_folder.ts";
import { chownTree, makeSandboxDirs } from "./sandbox_dirs.ts";
import { environmentText, READING_SHELL } from "./shell_environment.ts";

/**
 * The launcher stays outside the sandbox to record its own pid and the program's exit code, even while no server runs.
 * It discards the shell's own messages ("Terminated"), which are not output of the program.
 */
const LAUNCHER = `umask 022; ulimit -c 0; echo $$ >&3; exec 4>&2 2>/dev/null
(exec "$@" 2>&4 3>&- 4>&-)
code=$?; echo $code >&3; exit $code`;

/** The program to launch, and its sandbox. */
export interface Launch extends Confinement {
  readonly record: InstanceRecord;
  readonly environment: ReadonlyMap<string, Secret>;
  /** Folder to hide from the program. */
  readonly hidden: string;
}

/** Starts the program of an instance in its own session, with output redirected to files. It outlives this process. */
export async function launch(instance: InstanceFolder, options: Launch): Promise<Bun.Subprocess> {
  const { record, environment, hidden, sandbox, user } = options;
  await chownTree(user, record.folder);
  const { folder: release, workingFolder } = record;
  const dirs = await makeSandboxDirs({ folder: instance.path, release, workingFolder, hidden, user });
  const surroundings = sandbox.surroundings(dirs);
  const own = { defaults: { NODE_ENV: "production" }, fixed: { PORT: `${record.port}` } };
  const text = environmentText(environment, surroundings, own);
  const program = sandbox.command(dirs, [...READING_SHELL, record.command]);
  const descriptors = ["stdout", "stderr"].map((name) => outputFile(join(instance.path, name), user));
  descriptors.push(instance.newRun());
  try {
    const [out, errors, run] = descriptors;
    const child = Bun.spawn(["/bin/sh", "-c", LAUNCHER, "slipway-launcher", ...program], {
      cwd: surroundings.spawnFolder,
      env: SYSTEM_PATH,
      detached: true,
      stdio: [new TextEncoder().encode(text), out!, errors!, run!],
    });
    child.unref();
    return child;
  } finally {
    descriptors.forEach((descriptor) => closeSync(descriptor));
  }
}

/** Opens an output file that the program's user can reopen as `/dev/stdout`. */
function outputFile(path: string, user: Confinement["user"]): number {
  const descriptor = openSync(path, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT, 0o600);
  if (user) fchownSync(descriptor, user.uid, user.gid);
  return descriptor;
}
