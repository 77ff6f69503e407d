import type { ObjectStorage } from "../../../ports/backups/object_storage.ts";
import { Slots } from "../../system/slots.ts";

/**
 * Limits the concurrent operations of a store; further ones queue in FIFO order. A read counts until its stream ends.
 */
export function limited(storage: ObjectStorage, atOnce: number): ObjectStorage {
  const slots = new Slots(atOnce);
  return {
    put: (key, content, options) => slots.run(() => storage.put(key, content, options), { signal: options?.signal }),
    async get(key, options) {
      const leave = await slots.take({ signal: options?.signal });
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
    stat: (key, options) => slots.run(() => storage.stat(key, options), { signal: options?.signal }),
    list: (prefix, options) => slots.run(() => storage.list(prefix, options), { signal: options?.signal }),
    remove: (key, options) => slots.run(() => storage.remove(key, options), { signal: options?.signal }),
    unfinished: (prefix, options) => slots.run(() => storage.unfinished(prefix, options), { signal: options?.signal }),
    discard: (key, options) => slots.run(() => storage.discard(key, options), { signal: options?.signal }),
    sweep: (prefix, options) => slots.run(() => storage.sweep(prefix, options), { signal: options.signal }),
  };
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
