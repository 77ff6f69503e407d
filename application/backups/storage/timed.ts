import { Failure } from "../../../domain/failure.ts";
import type { ObjectStorage, StorageOptions } from "../../../ports/backups/object_storage.ts";

/**
 * Wraps a store so that operations fail with code `timeout` when the store is idle for `idleMs`: it does not respond,
 * accepts no more of a write, or sends no more of a read. Time spent waiting for the source or the reader does not
 * count.
 */
export function timed(storage: ObjectStorage, idleMs: number): ObjectStorage {
  const within = <T>(options: StorageOptions | undefined, work: (options: StorageOptions) => Promise<T>) => {
    const clock = new IdleClock(idleMs, options?.signal);
    clock.start();
    return work({ ...options, signal: clock.signal }).finally(() => clock.stop());
  };
  return {
    async put(key, content, options) {
      const clock = new IdleClock(idleMs, options?.signal);
      clock.start();
      try {
        return await storage.put(key, watched(content, clock, "source"), { ...options, signal: clock.signal });
      } finally {
        clock.stop();
      }
    },
    async get(key, options) {
      const clock = new IdleClock(idleMs, options?.signal);
      clock.start();
      try {
        const content = await storage.get(key, { ...options, signal: clock.signal });
        return content && watched(content, clock, "store");
      } finally {
        clock.stop();
      }
    },
    stat: (key, options) => within(options, (timely) => storage.stat(key, timely)),
    list: (prefix, options) => within(options, (timely) => storage.list(prefix, { ...options, ...timely })),
    remove: (key, options) => within(options, (timely) => storage.remove(key, timely)),
    unfinished: (prefix, options) => within(options, (timely) => storage.unfinished(prefix, timely)),
    discard: (key, options) => within(options, (timely) => storage.discard(key, timely)),
    sweep: (prefix, options) => within(options, (timely) => storage.sweep(prefix, { ...options, ...timely })),
  };
}

/** Aborts its signal when it runs for `idleMs` without being stopped or restarted. */
class IdleClock {
  readonly signal: AbortSignal;
  readonly #late = new AbortController();
  readonly #idleMs: number;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(idleMs: number, signal: AbortSignal | undefined) {
    this.#idleMs = idleMs;
    this.signal = AbortSignal.any([this.#late.signal, ...(signal ? [signal] : [])]);
  }

  start(): void {
    this.stop();
    this.#timer = setTimeout(() => this.#late.abort(timedOut(this.#idleMs)), this.#idleMs);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}

/** Passes a stream through; the idle clock runs only while the store is expected to act. */
function watched(
  content: ReadableStream<Uint8Array>,
  clock: IdleClock,
  from: "source" | "store",
): ReadableStream<Uint8Array> {
  const reader = content.getReader();
  const [onPull, onChunk] = from === "store" ? (["start", "stop"] as const) : (["stop", "start"] as const);
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        clock[onPull]();
        try {
          const { done, value } = await reader.read();
          if (done) controller.close();
          else controller.enqueue(value);
        } finally {
          clock[onChunk]();
        }
      },
      cancel(reason) {
        clock.stop();
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}

function timedOut(idleMs: number): Failure {
  const seconds = Math.max(1, Math.round(idleMs / 1_000));
  return new Failure("remote_failed", "timeout", `Cannot continue: the store did not respond for ${seconds} s`);
}
