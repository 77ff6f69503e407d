import { dlopen } from "bun:ffi";
import { closeSync, constants, fstatSync, openSync, statSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

const LOCK_SH = 1;
const LOCK_EX = 2;
const LOCK_NB = 4;
/** Far longer than anything takes that is done while a file is held. */
const LIMIT_MS = 60_000;

const library = process.platform === "darwin" ? "libSystem.B.dylib" : "libc.so.6";
const libc = dlopen(library, { flock: { args: ["i32", "i32"], returns: "i32" } });

/** Takes the lock of an open file without waiting, and tells whether it did; the kernel drops it with the last descriptor. */
export function tryLock(descriptor: number, how: "shared" | "exclusive"): boolean {
  return libc.symbols.flock(descriptor, (how === "shared" ? LOCK_SH : LOCK_EX) | LOCK_NB) === 0;
}

/** Holds the file at `path` alone until disposed or dead; `undefined` when another does, or when its folder is not there. */
export function holdFile(path: string): Disposable | undefined {
  const descriptor = opened(path);
  if (descriptor === undefined) return undefined;
  if (tryLock(descriptor, "exclusive") && isStillAt(path, descriptor)) {
    return { [Symbol.dispose]: () => closeSync(descriptor) };
  }
  closeSync(descriptor);
  return undefined;
}

/**
 * The same, after whoever holds it; `undefined` only when its folder is not there. Somebody who holds it for longer than `limitMs`, by default a minute, stands
 * still, as a process does that was stopped: then this goes on without it.
 */
export async function waitForFile(path: string, { limitMs = LIMIT_MS } = {}): Promise<Disposable | undefined> {
  const until = performance.now() + limitMs;
  for (;;) {
    const held = holdFile(path);
    if (held) return held;
    const descriptor = opened(path);
    if (descriptor === undefined) return undefined;
    closeSync(descriptor);
    if (performance.now() > until) return { [Symbol.dispose]() {} };
    await delay(10);
  }
}

function opened(path: string): number | undefined {
  try {
    return openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Whether the path still leads to the open file: it may have been removed while we waited for it. */
export function isStillAt(path: string, descriptor: number): boolean {
  return statSync(path, { throwIfNoEntry: false })?.ino === fstatSync(descriptor).ino;
}
