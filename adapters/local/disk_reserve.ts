import { statfs } from "node:fs/promises";
import type { UnpackStep } from "../../domain/archive/unpack.ts";
import { storageFull } from "./storage_failure.ts";

/** The space of a disk, in bytes. */
export interface DiskSpace {
  readonly free: number;
  readonly total: number;
}

const MOST_RESERVED = 512 * 2 ** 20;
const SHARE_RESERVED = 0.05;
/** Other programs fill the disk too: the free space is checked again after this many bytes. */
const STRIDE = 16 * 2 ** 20;
/** Disk usage of an entry beside its content. */
const ENTRY_BYTES = 4_096;

/** Lets an upload fill the disk only up to a reserve, so that the database and everything else can continue. */
export class DiskReserve {
  readonly #space: () => Promise<DiskSpace>;
  #allowance = 0;

  constructor(space: () => Promise<DiskSpace>) {
    this.#space = space;
  }

  /** Throws `storage_full` when a step of an upload would use the reserve; a file has to fit as a whole. */
  async admit(step: UnpackStep): Promise<void> {
    switch (step.type) {
      case "file":
        return this.#take(ENTRY_BYTES, step.size);
      case "bytes":
        return this.#take(step.bytes.length);
      case "folder":
      case "link":
        return this.#take(ENTRY_BYTES);
      case "end":
    }
  }

  /** Takes bytes from the allowance; `inSight` more are expected and have to fit as well. */
  async #take(bytes: number, inSight = 0): Promise<void> {
    if (bytes + inSight > this.#allowance) {
      const { free, total } = await this.#space();
      const room = free - Math.min(MOST_RESERVED, total * SHARE_RESERVED);
      if (bytes + inSight > room) throw storageFull("accept the upload");
      this.#allowance = Math.min(room, STRIDE);
    }
    this.#allowance -= bytes;
  }
}

/** The space of the disk that a folder is on. */
export async function diskSpace(folder: string): Promise<DiskSpace> {
  const { bavail, blocks, bsize } = await statfs(folder);
  return { free: bavail * bsize, total: blocks * bsize };
}
