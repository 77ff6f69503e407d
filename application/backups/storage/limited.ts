import type { ObjectStorage } from "../../../ports/backups/object_storage.ts";

/**
 * Limits the concurrent operations of a store; further ones queue in FIFO order. A read counts until its stream ends.
 */
export function limited(storage: ObjectStorage, atOnce: number): ObjectStorage {
  const slots = new Semaphore(atOnce);
  return {
    put: (key, content, options) => slots.during(options?.signal, () => storage.put(key, content, options)),
    async get(key, options) {
      const leave = await slots.take(options?.signal);
      try {
        const content = await storage.get(key, options);
        if (content) return leaving(content, leave);
        leave();
        return undefined;
      } catch (error) {
        leave();
        throw error;
      }
    },
    stat: (key, options) => slots.during(options?.signal, () => storage.stat(key, options)),
    list: (prefix, options) => slots.during(options?.signal, () => storage.list(prefix, options)),
    remove: (key, options) => slots.during(options?.signal, () => storage.remove(key, options)),
    unfinished: (prefix, options) => slots.during(options?.signal, () => storage.unfinished(prefix, options)),
    discard: (key, options) => slots.during(options?.signal, () => storage.discard(key, options)),
    sweep: (prefix, options) => slots.during(options.signal, () => storage.sweep(prefix, options)),
  };
}

class Semaphore {
  readonly #queue: (() => void)[] = [];
  #free: number;

  constructor(count: number) {
    this.#free = count;
  }

  /** Waits for a free slot; resolves to a function that releases it, idempotently. */
  async take(signal: AbortSignal | undefined): Promise<() => void> {
    signal?.throwIfAborted();
    if (this.#free > 0) this.#free--;
    else await this.#wait(signal);
    let left = false;
    return () => {
      if (left) return;
      left = true;
      const next = this.#queue.shift();
      if (next) next();
      else this.#free++;
    };
  }

  async during<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    const leave = await this.take(signal);
    try {
      return await work();
    } finally {
      leave();
    }
  }

  async #wait(signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const abort = () => {
      const at = this.#queue.indexOf(resolve);
      // It may have got its slot in the same tick, and keeps it then.
      if (at >= 0) this.#queue.splice(at, 1);
      reject(signal?.reason);
    };
    this.#queue.push(resolve);
    signal?.addEventListener("abort", abort, { once: true });
    await promise.finally(() => signal?.removeEventListener("abort", abort));
  }
}

function leaving(content: ReadableStream<Uint8Array>, leave: () => void): ReadableStream<Uint8Array> {
  const reader = content.getReader();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (!done) return controller.enqueue(value);
          leave();
          controller.close();
        } catch (error) {
          leave();
          throw error;
        }
      },
      cancel(reason) {
        leave();
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
