import { closeSync, constants, openSync, unlinkSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { isStillAt, tryLock } from "../../shared/file_lock.ts";
import { ifExists } from "../../shared/error_code.ts";

const AGAIN_MS = 5;

/**
 * Records which instances a live server is starting. From creating a container until it is started, a server holds a
 * lock on a file, which the kernel drops when the server dies. This distinguishes an abandoned container from one that
 * will run in a moment.
 */
export class StartingMarks {
  readonly #folder: string;

  /** `folder` is shared by all servers that use an engine as one installation; it is created when needed. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Marks an instance as being started until disposed; several servers may hold the mark. */
  async mark(instanceId: string): Promise<Disposable> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const path = join(this.#folder, instanceId);
    for (;;) {
      const descriptor = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600);
      // Another process may be checking the mark, or removing the file of a finished start.
      if (tryLock(descriptor, "shared") && isStillAt(path, descriptor)) {
        return { [Symbol.dispose]: () => void release(path, descriptor) };
      }
      closeSync(descriptor);
      await delay(AGAIN_MS);
    }
  }

  /** Whether a live server is starting an instance. */
  isMarked(instanceId: string): boolean {
    const path = join(this.#folder, instanceId);
    const descriptor = opened(path);
    return descriptor !== undefined && !release(path, descriptor);
  }
}

/** Closes the file, and removes it unless it has another holder. Returns `false` if it has. */
function release(path: string, descriptor: number): boolean {
  try {
    if (!tryLock(descriptor, "exclusive")) return false;
    if (isStillAt(path, descriptor)) unlinkSync(path);
    return true;
  } finally {
    closeSync(descriptor);
  }
}

function opened(path: string): number | undefined {
  return ifExists(() => openSync(path, constants.O_RDWR));
}
