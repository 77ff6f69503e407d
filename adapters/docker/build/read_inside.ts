import { constants } from "node:fs";
import { open, realpath } from "node:fs/promises";
import { join, sep } from "node:path";
import { shown } from "../../../domain/archive/refusal.ts";
import { type Failure, invalid } from "../../../domain/failure.ts";
import { ABSENT, errorCode } from "../../shared/error_code.ts";

const MAX_BYTES = 4 * 1_024 * 1_024;
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Reads a small file of a folder whose own path is free of symlinks; `undefined` if there is none. Throws
 * `link_outside` if it leads out of the folder, and `build_failed` if it is longer than 4 MB.
 */
export async function readInside(root: string, path: string): Promise<Uint8Array | undefined> {
  try {
    const real = await realpath(join(root, path));
    if (!real.startsWith(root + sep)) throw refusedPath(path);
    await using file = await open(real, FLAGS);
    const found = await file.stat();
    if (!found.isFile()) return undefined;
    if (found.size <= MAX_BYTES) return await file.readFile();
  } catch (error) {
    if (ABSENT.includes(errorCode(error))) return undefined;
    throw error;
  }
  throw invalid("build_failed", `Cannot build: ${shown(path)} is longer than 4 MB`);
}

/** Returns the failure for a path that leads out of the folder. */
export function refusedPath(path: string): Failure {
  return invalid("link_outside", `Cannot build: ${shown(path)} leads out of the folder; use a file inside it`);
}
