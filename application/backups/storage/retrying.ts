import { Failure } from "../../../domain/failure.ts";
import type { ObjectStorage } from "../../../ports/backups/object_storage.ts";

/** Retry policy: number of attempts and backoff. */
export interface RetryPolicy {
  readonly attempts: number;
  /** Pause before the second attempt; doubles before each further one (exponential backoff). */
  readonly pauseMs: number;
}

const PASSING = ["unreachable", "timeout"];

/** Wraps a store so that it retries transient failures. A `put` is not retried once its source stream was read from. */
export function retrying(storage: ObjectStorage, patience: RetryPolicy): ObjectStorage {
  const again = <T>(signal: AbortSignal | undefined, work: () => Promise<T>, mayRepeat = () => true) =>
    repeat(work, { ...patience, signal, mayRepeat });
  return {
    put(key, content, options) {
      const { stream, untouched } = unread(content);
      return again(options?.signal, () => storage.put(key, stream(), options), untouched);
    },
    get: (key, options) => again(options?.signal, () => storage.get(key, options)),
    stat: (key, options) => again(options?.signal, () => storage.stat(key, options)),
    list: (prefix, options) => again(options?.signal, () => storage.list(prefix, options)),
    remove: (key, options) => again(options?.signal, () => storage.remove(key, options)),
    unfinished: (prefix, options) => again(options?.signal, () => storage.unfinished(prefix, options)),
    discard: (key, options) => again(options?.signal, () => storage.discard(key, options)),
    sweep: (prefix, options) => again(options.signal, () => storage.sweep(prefix, options)),
  };
}

async function repeat<T>(
  work: () => Promise<T>,
  {
    attempts,
    pauseMs,
    signal,
    mayRepeat,
  }: RetryPolicy & { readonly signal: AbortSignal | undefined; readonly mayRepeat: () => boolean },
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      const passes = error instanceof Failure && PASSING.includes(error.code);
      if (!passes || attempt >= attempts || signal?.aborted || !mayRepeat()) throw error;
    }
    await pause(pauseMs * 2 ** (attempt - 1), signal);
  }
}

/** Makes new streams over the same content, which is possible as long as none of it was read. */
function unread(content: ReadableStream<Uint8Array>) {
  const reader = content.getReader();
  let touched = false;
  const stream = () =>
    new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          touched = true;
          const { done, value } = await reader.read();
          if (done) controller.close();
          else controller.enqueue(value);
        },
        // Before the first read, cancelling an attempt keeps the source usable for the next one.
        cancel: (reason) => (touched ? reader.cancel(reason) : undefined),
      },
      { highWaterMark: 0 },
    );
  return { stream, untouched: () => !touched };
}

async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  const abort = () => reject(signal?.reason);
  signal?.addEventListener("abort", abort, { once: true });
  try {
    await promise;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
  }
}
