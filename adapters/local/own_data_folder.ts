import { chmod, mkdir, readdir, stat } from "node:fs/promises";
import { Failure } from "../../domain/failure.ts";

const PRIVATE = 0o700;

/** File names that each identify a folder as a data folder of Slipway. */
const MARKS = ["secret.key", "postgres.json", "postgres.lock"];

/** Names that identify it if there are no others; a new disk contains "lost+found". */
const KNOWN =
  /^(?:(?:secret\.key|postgres|uploads|sources|releases|instances|builds|cache|edge|containers|starting|known_hosts)(?:\..*)?|lost\+found)$/;

/**
 * Creates the data folder, or checks that an existing one is empty or Slipway's own, and makes it private (mode 0700).
 */
export async function ownDataFolder(folder: string): Promise<void> {
  try {
    const made = await mkdir(folder, { recursive: true, mode: PRIVATE });
    // Root may chmod any folder: making a shared one such as /tmp private would break the machine.
    if (made === undefined && !(await isOurs(folder))) throw unusable(folder, "it contains other files");
    if (((await stat(folder)).mode & 0o7777) !== PRIVATE) await chmod(folder, PRIVATE);
  } catch (cause) {
    if (cause instanceof Failure) throw cause;
    const { code = "unknown" } = cause as { code?: string };
    throw unusable(folder, code, cause);
  }
}

async function isOurs(folder: string): Promise<boolean> {
  const names = await readdir(folder);
  return names.some((name) => MARKS.includes(name)) || names.every((name) => KNOWN.test(name));
}

function unusable(folder: string, why: string, cause?: unknown): Failure {
  const sentence = `Cannot use the data folder ${folder}: ${why}. Set SLIPWAY_DATA to a folder of its own`;
  return new Failure("unavailable", "data_folder_unusable", sentence, { cause });
}
