import { dlopen } from "bun:ffi";
import { closeSync, constants, fstatSync, openSync, statSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { ifExists } from "./error_code.ts";

const LOCK_SH = 1;
const LOCK_EX = 2;
const LOCK_NB = 4;
/** Far longer than any operation under a lock takes. */
const LIMIT_MS = 60_000;

const library = process.platform === "darwin" ? "libSystem.B.dylib" : "libc.so.6";
const libc = dlopen(library, { flock: { args: ["i32", "i32"], returns: "i32" } });

/**
 * Tries to take the lock (flock) of an open file without waiting; returns whether it succeeded. The kernel releases it
 * with the last descriptor.
 */
export function tryLock(descriptor: number, how: "shared" | "exclusive"): boolean {
  return libc.symbols.flock(descriptor, (how === "shared" ? LOCK_SH : LOCK_EX) | LOCK_NB) === 0;
}

/**
 * Locks the file at `path` exclusively until disposed or the process dies; `undefined` if it is locked already, or its
 * folder is missing.
 */
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
 * Waits for the exclusive lock of a file; `undefined` only if its folder is missing. A holder that keeps it for longer
 * than `limitMs` (default: one minute) is assumed to hang, like a stopped process: then this proceeds without the lock.
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
  return ifExists(() => openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600));
}

/** Returns whether the path still refers to the open file, which may have been removed while we waited for the lock. */
export function isStillAt(path: string, descriptor: number): boolean {
  return statSync(path, { throwIfNoEntry: false })?.ino === fstatSync(descriptor).ino;
}
